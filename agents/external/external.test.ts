import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { findProcesses } from '../../base/process-tree.ts';
import { startHub } from '../../hub/index.ts';
import { connectHub, type HubClient } from '../../hub-client/index.ts';
import type { FrameOf, TaskPayload } from '../../protocol/index.ts';
import { type ExternalAgentOptions, runExternalAgent } from './index.ts';

interface Stage {
  readonly owner: HubClient;
  readonly tree: string;
  readonly lines: string[];
  /** Gives the agent a task and waits for its end. */
  assign(id: string, more?: Partial<TaskPayload>): Promise<FrameOf<'task.result'>['payload']>;
}

const ofTask = (value: string) => findProcesses({ variable: { name: 'NPC_TASK', value } });

/** A real hub, an owner, and the agent under test with a program from `script`. */
async function stage(exec: string, script: string, options: Partial<ExternalAgentOptions> = {}): Promise<Stage> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'npc-external-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const tree = join(root, 'tree');
  await mkdir(tree);
  await writeFile(join(root, 'program.sh'), script);
  const hub = await startHub({ port: 0, database: ':memory:', log: silentLog() });
  onTestFinished(() => hub.close());
  const role = options.role ?? 'coder';
  const common = { url: hub.url, log: silentLog() };
  const client = await connectHub({ ...common, name: 'outside', roles: [role] });
  const owner = await connectHub({ ...common, name: 'owner' });
  onTestFinished(async () => {
    await client.close();
    await owner.close();
  });
  const results = new Map<string, (payload: FrameOf<'task.result'>['payload']) => void>();
  owner.on('task.result', ({ task_id, payload }) => results.get(task_id)?.(payload));
  owner.on('task.status', () => {});
  const lines: string[] = [];
  const stop = runExternalAgent({
    client,
    role,
    exec: exec.replace('PROGRAM', join(root, 'program.sh')),
    env: { PATH: process.env.PATH ?? '', HOME: root },
    cwd: root,
    say: (line) => lines.push(line),
    ...options,
  });
  onTestFinished(stop);
  return {
    owner,
    tree,
    lines,
    async assign(id, more = {}) {
      const result = new Promise<FrameOf<'task.result'>['payload']>((resolve) => results.set(id, resolve));
      const payload = { goal: '修复 bug', artifacts: [], constraints: [], options: { tree }, ...more };
      await owner.send({ type: 'task.assign', to: `role:${role}`, task_id: id, payload });
      return result;
    },
  };
}

test('R-AGENT-20: the program reads the task, works in its tree and writes the result', async () => {
  const { assign, tree, lines } = await stage(
    'sh PROGRAM {task} {result}',
    `cp "$1" page.md; pwd; echo '{"status":"success","summary":"修好了","issues":[{"severity":"note","message":"n"}]}' > "$2"`,
    { guide: '# Role: coder\n\nChange the tree.' },
  );
  const result = await assign('t1', {
    constraints: ['no new packages'],
    artifacts: [{ kind: 'diff', title: 'the change', path: 'a.ts', text: '+```js\n' }],
  });
  expect(result).toEqual({
    status: 'success',
    summary: '修好了',
    artifacts: [],
    issues: [{ severity: 'note', message: 'n' }],
  });
  expect(lines).toEqual([tree]);
  const page = await readFile(join(tree, 'page.md'), 'utf8');
  for (const part of [
    '# Task for the role "coder"',
    '修复 bug',
    '### Role: coder',
    '- no new packages',
    '````diff\n+```js\n````',
  ]) {
    expect(page).toContain(part);
  }
  expect(page).toMatch(/Write your result to the file `\/\S+\/result\.json`/);
});

test.each([
  [
    'plain words',
    'echo "looked at it"; echo "all is well"',
    { status: 'success', summary: 'looked at it\nall is well' },
  ],
  [
    'an object in the last line',
    'echo working; echo \'{"status":"failed","summary":"no"}\'',
    { status: 'failed', summary: 'no' },
  ],
  [
    'a fenced object',
    'printf \'So:\\n```json\\n{"status": "success",\\n"summary": "s"}\\n```\\nBye\\n\'',
    { status: 'success', summary: 's' },
  ],
  ['an object that means something else', 'echo \'{"count": 3}\'', { status: 'success', summary: '{"count": 3}' }],
  ['nothing', 'true', { status: 'success', summary: '(the program said nothing)' }],
])('R-AGENT-21: without {result} what is printed counts: %s', async (_name, script, expected) => {
  const { assign } = await stage('sh PROGRAM {task}', script);
  expect(await assign('t1')).toMatchObject(expected);
});

test('R-AGENT-21: long words become an artifact, and a result off the contract names what is wrong', async () => {
  const long = await stage('sh PROGRAM {task}', 'seq 1 3000');
  expect(await long.assign('t1')).toMatchObject({ status: 'success', artifacts: [{ kind: 'report' }] });
  const off = await stage('sh PROGRAM {task} {result}', `echo '{"status":"maybe","summary":"s"}' > "$2"`);
  const { status, issues } = await off.assign('t1');
  expect(status).toBe('failed');
  expect(issues[0]).toMatchObject({ severity: 'blocking', message: expect.stringContaining('status:') });
});

test('R-AGENT-22: a judge that says nothing has not agreed', async () => {
  const { assign } = await stage('sh PROGRAM {task}', 'true', { role: 'reviewer' });
  expect(await assign('t1')).toMatchObject({ status: 'failed', issues: [{ severity: 'blocking' }] });
});

test('R-AGENT-23: an exit other than 0 is a failure with the end of the output, whatever the result says', async () => {
  const { assign } = await stage(
    'sh PROGRAM {task} {result}',
    `echo '{"status":"success","summary":"done"}' > "$2"; seq 1 5000; echo 'key rejected' >&2; exit 3`,
  );
  const { status, issues } = await assign('t1');
  expect(status).toBe('failed');
  expect(issues).toEqual([
    {
      severity: 'blocking',
      message: 'The program ended with exit code 3',
      evidence: expect.stringMatching(/key rejected$/),
    },
  ]);
  const missing = await stage('no-such-program {task}', '');
  expect((await missing.assign('t1')).issues[0]?.message).toContain('is the program installed, and on PATH?');
});

test('R-AGENT-24: cancelling ends the program with all its children', async () => {
  const mark = `9${process.pid}`;
  const { assign, owner, lines } = await stage(
    'sh PROGRAM {task}',
    `setsid sleep ${mark} & sleep ${mark} & echo up; wait`,
  );
  const alive = async () => (await ofTask('t1')).length;
  void assign('t1');
  await expect.poll(() => lines).toEqual(['up']);
  expect(await alive()).toBeGreaterThan(2);
  await owner.send({ type: 'task.cancel', to: 'hub', task_id: 't1', payload: { reason: 'enough' } });
  await expect.poll(alive).toBe(0);
});

test('R-AGENT-24: what the program leaves running is ended with the task', async () => {
  const { assign } = await stage('sh PROGRAM {task}', 'setsid sleep 60 & echo done');
  expect(await assign('t1')).toMatchObject({ status: 'success', summary: 'done' });
  expect(await ofTask('t1')).toEqual([]);
});

test('R-AGENT-25: the program gets the listed environment, that of the attempt, and no other', async () => {
  process.env.NPC_TEST_SECRET = 'must not be seen';
  const { assign } = await stage('sh PROGRAM {task}', 'env | grep -v ^PATH', {
    attemptEnv: async (task) => ({ OPENAI_BASE_URL: `http://127.0.0.1/${task.id}/${task.attempt}` }),
  });
  const { summary } = await assign('t1');
  delete process.env.NPC_TEST_SECRET;
  expect(summary).toContain('OPENAI_BASE_URL=http://127.0.0.1/t1/1');
  expect(summary).not.toContain('must not be seen');
});

test('R-AGENT-28: a secret that the program prints is in no log, line or result', async () => {
  const secrets = ['one', 'two'].map((name) => `${name}-${'x'.repeat(30)}`);
  const { assign, owner, lines } = await stage(
    'sh PROGRAM {task} {result}',
    `echo "$OPENAI_API_KEY"; echo "${secrets[1]}"; echo "{\\"status\\":\\"success\\",\\"summary\\":\\"$OPENAI_API_KEY\\"}" > "$2"`,
    { secrets: secrets.slice(1), attemptEnv: async () => ({ OPENAI_API_KEY: secrets[0] ?? '' }) },
  );
  const result = await assign('t1');
  expect(result.status).toBe('success');
  const seen = [result, lines];
  for await (const frame of owner.readLog({ task_id: 't1' })) seen.push(frame as never);
  for (const secret of secrets) expect(JSON.stringify(seen)).not.toContain(secret);
  expect(lines).toHaveLength(2);
});

test('R-AGENT-26: a command line without {task} is refused, and one with quotes around it works', async () => {
  await expect(stage('sh PROGRAM', '')).rejects.toThrow('it names no {task}');
  const { assign } = await stage(`sh 'PROGRAM' "{task}"`, 'head -n 1 "$1"');
  expect((await assign('t1')).summary).toBe('# Task for the role "coder"');
});

test('R-AGENT-27: start and end of the program are in the log', async () => {
  const { assign, owner } = await stage('sh PROGRAM {task}', 'echo 你好');
  await assign('t1');
  const events: unknown[] = [];
  for await (const { payload } of owner.readLog({ task_id: 't1', type: 'task.event' }))
    events.push((payload as { event: unknown }).event);
  expect(events).toMatchObject([
    { type: 'program.started' },
    { type: 'program.ended', exit: 0, tail: '你好', left: [] },
  ]);
});

test('R-AGENT-20: a task without a work tree is done in the folder of the agent, and its page does not call that its own', async () => {
  const { assign, tree, lines } = await stage('sh PROGRAM {task} {result}', 'pwd; grep "You work in" "$1"');
  await assign('t1', { options: {} });
  await assign('t2');
  expect(lines).toEqual([
    join(tree, '..'),
    expect.stringMatching(/^You work in the folder `\S+`, where this agent was started; the task names no work tree/),
    tree,
    expect.stringMatching(/, a git work tree that is yours alone\./),
  ]);
});
