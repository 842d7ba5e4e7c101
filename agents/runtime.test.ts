import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { findProcesses } from '../base/process-tree.ts';
import { type Model, ModelError } from '../core/model.ts';
import { startHub } from '../hub/index.ts';
import { connectHub, type HubClient } from '../hub-client/index.ts';
import type { Envelope, FrameOf, LoopEvent } from '../protocol/index.ts';
import { call, calls, opening, playLoop, type ScriptStep, says, scriptedModel } from '../test/helpers/scripted-loop.ts';
import { loadTools } from '../tools/load-tools.ts';
import type { RoleDefinition } from './role.ts';
import { type AgentOptions, runAgent } from './runtime.ts';

/** A hub, a boss who hands out tasks, and a work tree; all gone when the test ends. */
async function bench() {
  const tree = await realpath(await mkdtemp(join(tmpdir(), 'npc-agent-')));
  onTestFinished(() => rm(tree, { recursive: true, force: true }));
  const hub = await startHub({ port: 0, database: ':memory:', log: silentLog(), clocks: { backoffBase: 5 } });
  onTestFinished(() => hub.close());
  const connect = async (name: string, roles: string[] = []) => {
    const client = await connectHub({ url: hub.url, name, roles, log: silentLog() });
    onTestFinished(() => client.close());
    return client;
  };
  const boss = await connect('boss');
  const results = new Map<string, (frame: FrameOf<'task.result'>) => void>();
  boss.on('task.result', (frame) => results.get(frame.task_id)?.(frame));
  boss.on('task.input', async (frame) => {
    const payload = { text: `about "${frame.payload.question}": yes` };
    await boss.send({ type: 'task.answer', to: frame.from, task_id: frame.task_id, ref: frame.id ?? '', payload });
  });

  const role: RoleDefinition = {
    name: 'coder',
    prompt: new URL(`file://${join(tree, 'prompt.md')}`),
    tools: ['bash', 'read', 'comment', 'plan', 'ask', 'submit-result'],
    policy: { choice: 'default', maxSteps: 40 },
  };
  await writeFile(join(tree, 'prompt.md'), '# Role: coder\n\nYou mend things.\n');

  return {
    tree,
    boss,
    /** Starts an agent whose model plays this script. */
    async agent(script: readonly ScriptStep[] | Model, more: Partial<AgentOptions> & { name?: string } = {}) {
      const { name = 'coder-1', ...options } = more;
      const client = await connect(name, ['coder']);
      const abort = new AbortController();
      const model = 'reply' in script ? script : scriptedModel(script);
      const running = runAgent({
        client,
        role,
        openModel: async () => model,
        cwd: tree,
        env: { PATH: process.env.PATH ?? '' },
        log: silentLog(),
        signal: abort.signal,
        ...options,
      });
      const stop = async () => {
        abort.abort();
        return running;
      };
      onTestFinished(async () => void (await stop()));
      return { client, stop, running };
    },
    /** Hands out a task and waits for its result. */
    task(id: string, payload: Record<string, unknown> = {}): Promise<FrameOf<'task.result'>> {
      const result = new Promise<FrameOf<'task.result'>>((resolve) => results.set(id, resolve));
      const whole = { goal: 'Mend the parser.', artifacts: [], constraints: [], options: { tree }, ...payload };
      void boss.send({ type: 'task.assign', to: 'role:coder', task_id: id, payload: whole });
      return result;
    },
    role,
  };
}

async function eventsOf(client: HubClient, taskId: string): Promise<LoopEvent[]> {
  const events: LoopEvent[] = [];
  for await (const frame of client.readLog({ task_id: taskId, type: 'task.event' })) {
    events.push((frame as Envelope & { payload: { event: LoopEvent } }).payload.event);
  }
  return events;
}

const processesOf = (taskId: string) => findProcesses({ variable: { name: 'NPC_TASK', value: taskId } });

const done = (summary = 'mended') => calls(call('submit-result', { status: 'success', summary }));

test('R-AGENT-1: a task is worked on in its tree with the tools of the role, and answered with what was submitted', async () => {
  const { boss, agent, task, tree } = await bench();
  const model = scriptedModel([calls(call('bash', { command: 'pwd; echo $NPC_TASK' })), done()]);
  await agent(model);
  const { payload, attempt } = await task('t.1', {
    artifacts: [{ kind: 'report', title: 'objections', text: 'Use ```ticks``` well.\n' }],
    constraints: ['Keep the API.'],
  });
  expect(payload).toEqual({ status: 'success', summary: 'mended', artifacts: [], issues: [] });
  expect(attempt).toBe(1);

  const [system, user] = model.requests[0]?.turns ?? [];
  expect(system?.content).toMatch(/^# Role: coder\n\nYou mend things\.\n\n## Tools\n\n- `bash`: /);
  expect(system?.content).toContain('- `submit-result`: ');
  expect(user?.content).toContain('# Task\n\nMend the parser.\n\n## Rules to keep\n\n- Keep the API.');
  expect(user?.content).toContain('### objections (report)\n\n````\nUse ```ticks``` well.\n````');
  expect(model.requests[1]?.turns.at(-1)?.content).toContain(`${tree}\nt.1`);

  const events = await eventsOf(boss, 't.1');
  expect(events.filter((event) => event.type === 'turn.added').map((event) => event.turn)).toEqual([0, 1, 2, 3, 4]);
  expect(events.at(-1)).toMatchObject({ type: 'loop.stopped', reason: 'submitted' });
});

test('R-AGENT-2: thinking is logged line by line before the reply, which keeps it too', async () => {
  const { boss, agent, task } = await bench();
  const model: Model = {
    async reply(_request, _signal, onDelta) {
      for (const text of ['First the le', 'xer,\nthen', ' the parser.']) onDelta?.({ kind: 'thinking', text });
      return done();
    },
  };
  await agent(model);
  await task('t.1');
  const events = await eventsOf(boss, 't.1');
  const thoughts = events.filter((event) => event.type === 'model.thought');
  expect(thoughts.map((event) => event.line)).toEqual(['First the lexer,', 'then the parser.']);
  const reply = events.findIndex((event) => event.type === 'turn.added' && event.content.role === 'assistant');
  expect(events.findLastIndex((event) => event.type === 'model.thought')).toBeLessThan(reply);
});

test('R-AGENT-3: questions, comments and the plan reach the owner of the task', async () => {
  const { boss, agent, task } = await bench();
  const plan = [
    { text: 'read', state: 'done' },
    { text: 'mend', state: 'doing' },
  ];
  const model = scriptedModel([
    calls(call('ask', { question: 'Both?' })),
    calls(call('comment', { kind: 'note', body: 'Found it.' }), call('plan', { items: plan })),
    done(),
  ]);
  await agent(model);
  await task('t.1');
  expect(model.requests[1]?.turns.at(-1)).toMatchObject({ content: 'about "Both?": yes', ok: true });
  const events: { type: string }[] = await eventsOf(boss, 't.1');
  const comment = events.find((event) => event.type === 'comment.asked');
  expect(comment).toMatchObject({ kind: 'note', body: 'Found it.', id: expect.stringMatching(/^comment-/) });
  expect(events.find((event) => event.type === 'plan.changed')).toMatchObject({ items: plan });
});

test.each([
  [() => new ModelError('auth', 'Set another key.', { retryable: false }), 'model_error:auth', 'Set another key.'],
  [() => new ModelError('budget', 'All is used.', { retryable: false }), 'loop_stopped:budget', 'All is used.'],
  [
    () => new ModelError('context_length', 'Too long.', { retryable: false }),
    'model_error:context_length',
    'Too long.',
  ],
  [() => says(''), 'loop_stopped:empty_reply', 'The model answered nothing, twice in a row.'],
  [() => says('Done!'), 'loop_stopped:answered', 'It ended with text instead of a result: Done!'],
] as const)(
  'R-AGENT-4: a loop that stops without a result fails the task and says why (%#)',
  async (step, evidence, message) => {
    const { agent, task } = await bench();
    const model: Model = {
      async reply() {
        const made = step();
        if (made instanceof Error) throw made;
        return made;
      },
    };
    await agent(model);
    const { payload } = await task('t.1');
    expect(payload).toEqual({
      status: 'failed',
      // Its own words alone: later checks look at what it said.
      summary: message.replace('It ended with text instead of a result: ', ''),
      artifacts: [],
      issues: [{ severity: 'blocking', message, evidence }],
    });
  },
);

test('R-AGENT-4: a model that cannot be opened fails the task with its kind', async () => {
  const { agent, task } = await bench();
  await agent([], {
    openModel: () => Promise.reject(new ModelError('quota', 'The account is empty.', { retryable: false })),
  });
  const { payload } = await task('t.1');
  expect(payload).toMatchObject({ status: 'failed', issues: [{ evidence: 'model_error:quota' }] });
});

test('R-AGENT-5: the text of a role that was asked a question is its answer', async () => {
  const { agent, task, role } = await bench();
  await agent([says('It is 42.')], { role: { ...role, policy: { ...role.policy, answers: true } } });
  const { payload } = await task('t.1');
  expect(payload).toMatchObject({
    status: 'success',
    summary: 'It is 42.',
    artifacts: [{ kind: 'text', title: 'answer', text: 'It is 42.' }],
    issues: [],
  });
});

test('R-AGENT-6: what is left running is refused twice, then ended, and blocks the result', async () => {
  const { agent, task } = await bench();
  const start = calls(call('bash', { command: 'setsid sleep 300 >/dev/null 2>&1 & echo started' }));
  const model = scriptedModel([start, done(), done(), done()]);
  await agent(model);
  const { payload } = await task('t.left');
  expect(model.requests[2]?.turns.at(-1)?.content).toMatch(/left-running refuses: .*sleep 300/);
  expect(payload).toMatchObject({
    status: 'success',
    issues: [{ severity: 'blocking', evidence: expect.stringMatching(/^left_running: \d+ /) }],
  });
  expect(payload.issues[0]?.message).toContain('sleep 300');
  expect(await processesOf('t.left')).toEqual([]);
});

test('R-AGENT-7: another attempt goes on from the transcript, and nothing recorded is asked for again', async () => {
  const { agent, task } = await bench();
  let asked = 0;
  const first: Model = {
    reply: async () => {
      asked += 1;
      return asked === 1
        ? calls(call('bash', { command: 'echo once >> count; echo noted' }))
        : new Promise<never>(() => {});
    },
  };
  const killed = await agent(first);
  const result = task('t.1');
  await expect.poll(() => asked).toBe(2);
  await killed.stop();
  await killed.client.close();
  const second = scriptedModel([calls(call('read', { path: 'count' })), done('finished')]);
  await agent(second, { name: 'coder-2' });
  const { payload, attempt } = await result;
  expect(payload.summary).toBe('finished');
  expect(attempt).toBe(2);
  expect(second.requests[0]?.turn).toBe(1);
  expect(second.requests[0]?.turns.at(-1)?.content).toContain('noted');
  expect(second.requests[1]?.turns.at(-1)?.content.match(/once/g)).toHaveLength(1);
});

test('R-AGENT-7: a result that was submitted just before the crash is taken from the transcript', async () => {
  const { outcome } = await playLoop(scriptedModel([]), {
    tools: await loadTools(['bash', 'submit-result']),
    transcript: [...opening, done('was ready')],
  });
  expect(outcome).toMatchObject({ reason: 'submitted', result: { status: 'success', summary: 'was ready' } });
});

test('R-AGENT-8: a stopped agent ends what runs and gives its task back', async () => {
  const { agent, task } = await bench();
  const first = await agent([calls(call('bash', { command: 'sleep 300' }))]);
  const result = task('t.stop');
  await expect.poll(() => processesOf('t.stop'), { timeout: 5000 }).not.toEqual([]);
  expect(await first.stop()).toBe('stopped');
  expect(await processesOf('t.stop')).toEqual([]);
  await first.client.close();
  await agent([done('taken over')], { name: 'coder-2' });
  expect((await result).payload.summary).toBe('taken over');
});

test('R-AGENT-8: an agent that the hub does not want back ends', async () => {
  const { agent } = await bench();
  const { client, running } = await agent([]);
  await client.close();
  expect(await running).toBe('closed');
});

test('R-AGENT-10: an agent without a parent and with a silent hub ends what runs, and itself', async () => {
  const { agent, task } = await bench();
  let orphan = false;
  const { running, client } = await agent([calls(call('bash', { command: 'sleep 300' }))], {
    hasParent: () => !orphan,
  });
  void task('t.orphan');
  await expect.poll(() => processesOf('t.orphan'), { timeout: 5000 }).not.toEqual([]);
  client.silentFor = () => 15_000;
  orphan = true;
  expect(await running).toBe('orphaned');
  expect(await processesOf('t.orphan')).toEqual([]);
});

test('R-AGENT-9: destructive commands are refused, and secrets masked', async () => {
  const { agent, task } = await bench();
  const secret = ['quite', 'secret', '99'].join('-');
  const model = scriptedModel([
    calls(call('bash', { command: 'git reset --hard' }), call('bash', { command: `echo ${secret}` })),
    done(),
  ]);
  await agent(model, { secrets: [secret] });
  await task('t.1');
  const [refused, masked] = model.requests[1]?.turns.slice(-2) ?? [];
  expect(refused?.content).toMatch(/^dangerous-commands refuses: git reset/);
  expect(masked?.content).toMatch(/^\*\*\*\n/);
});

test('R-LLM-36: an agent makes room by the window of the model that its role asks', async () => {
  const read = (offset: number) => calls(call('read', { path: 'long.txt', offset }));
  const submit = calls(call('submit-result', { status: 'success', summary: 'done' }));
  const leftOutWith = async (windows: Partial<Record<'default' | 'review', number>>) => {
    const { agent, task, tree } = await bench();
    await writeFile(join(tree, 'long.txt'), 'a word\n'.repeat(300));
    const model = Object.assign(scriptedModel([read(1), read(2), read(3), read(4), read(5), submit]), { windows });
    await agent(model, { openModel: async () => model });
    expect((await task('run.code')).payload.status).toBe('success');
    return JSON.stringify(model.requests.at(-1)?.turns).includes('was left out to make room');
  };
  expect(await leftOutWith({ default: 6_000, review: 1_000_000 })).toBe(true);
  expect(await leftOutWith({ default: 1_000_000, review: 6_000 })).toBe(false);
});
