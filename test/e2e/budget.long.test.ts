import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/npc-crew.ts';
import {
  bash,
  branchesOf,
  coderAlone,
  fix,
  honest,
  priceTimes,
  type Step,
  setStage,
  shop,
  slug,
  storyOf,
} from '../helpers/play.ts';
import { tempFolder } from '../helpers/temp-repository.ts';

const asking = fileURLToPath(new URL('../fixtures/asking-coder.mjs', import.meta.url));

/** The step with what its model says that it used. */
const using = (step: Step, input: number): Step => ({ ...(step as object), usage: { input, output: 0 } });
const [change, handIn] = fix as [Step, Step];

const endings = [
  ['tokens', { NPC_BUDGET_TOKENS: '100000' }, '已用 100,000 tokens，上限 100,000 tokens'],
  ['calls', { NPC_BUDGET_CALLS: '1' }, '已用 1 次调用，上限 1 次调用'],
  ['money', { NPC_BUDGET_MONEY: '2 CNY' }, '已用 2.00 CNY，上限 2.00 CNY'],
] as const;

for (const [unit, env, words] of endings) {
  test(`R-E2E-52: a budget of ${unit} that is used up ends the run partial, with the work kept and a comment that no model wrote`, async () => {
    const prices = join(await tempFolder(), 'prices.json');
    await writeFile(
      prices,
      JSON.stringify({ models: [{ model: 'scripted', currency: 'CNY', input: 20, output: 40, window: 1_000_000 }] }),
    );
    const stage = await setStage({
      files: { ...shop, ...coderAlone },
      script: { coder: [using(change, 100_000), handIn], judge: ['complete [E1, E2]'] },
      env: { ...env, NPC_PRICES: prices },
    });
    const { exit, cause, comment, events } = await storyOf(stage, stage.ask());
    expect({ exit, cause }, comment).toEqual({ exit: 4, cause: 'budget' });
    expect(stage.models.requests).toHaveLength(1);
    expect(events('verdict.reached')).toMatchObject([{ verdict: 'partial', cause: 'budget' }]);
    expect(comment).toContain('### ⚠️ 部分完成');
    expect(comment).toContain(words);
    expect(comment).toContain('NPC_BUDGET_MONEY');
    expect(comment).toContain('| coder | scripted | 1 | 100,000 | 0 | 0 | 费用 2.00 CNY |');
    const { wip, others } = await branchesOf(stage);
    expect(others).toEqual([]);
    expect(comment).toContain(wip);
    expect(stage.platform.pulls(slug)).toEqual([]);
    if (unit !== 'tokens') return;
    const { stdout } = await runCli(['report', '--state', stage.state], { env: stage.env });
    expect(stdout).toMatch(/budget left: 0 tokens \(0 %\)/);
    expect(stdout).toMatch(/coder +scripted +1 +0 +100000 +0 +0 +2\.00 CNY/);
  });
}

test('R-E2E-52: near the end of its budget a coder is told, runs no other tool, and hands in; the run ends well', async () => {
  const stage = await setStage({
    files: { ...shop, ...coderAlone },
    script: {
      coder: [using(change, 82_000), using(bash('true'), 9_000), using(bash(priceTimes(3)), 10), using(handIn, 10)],
      judge: [using({ text: 'complete [E1, E2]' }, 10)],
    },
    env: { NPC_BUDGET_TOKENS: '100000' },
  });
  const { exit, comment, frames } = await storyOf(stage, stage.ask());
  expect({ exit }, comment).toEqual({ exit: 0 });
  const notes = stage.models.requests.map(({ body }) => /\[(\d+) % of the budget/.exec(JSON.stringify(body))?.[1]);
  expect(notes).toEqual([undefined, '82', '91', undefined, undefined]);
  const refused = frames.filter((frame) => JSON.stringify(frame.payload).includes('budget refuses: 91 %'));
  expect(refused.length).toBeGreaterThan(0);
  expect(stage.models.requests[3]?.body.tools).toHaveLength(3);
  const { headSha } = await stage.platform.pull(slug, stage.platform.pulls(slug)[0]?.number ?? '');
  expect(headSha).toMatch(/^[0-9a-f]{40}$/);
});

test('R-E2E-52: another program that gets no answer any more ends the run by its budget, and is not sent back', async () => {
  const exec = `${process.execPath} ${asking} {task}`;
  const stage = await setStage({
    files: { ...shop, '.npc/config.yml': `agents:\n  - role: coder\n    exec: ${JSON.stringify(exec)}\n` },
    script: { ...honest, architect: [using(honest.architect[0] as Step, 100_000)], coder: ['never asked'] },
    env: { NPC_BUDGET_TOKENS: '100000' },
  });
  const { exit, cause, events } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 4, cause: 'budget' });
  expect(events('work.returned').length).toBeLessThanOrEqual(1);
  expect(stage.models.requests.map(({ role }) => role)).toEqual(['architect']);
});

test('R-E2E-52: a file of prices that cannot be used is told in the comment, before any model is asked', async () => {
  const stage = await setStage({ script: honest, env: { NPC_PRICES: '/nowhere/prices.json' } });
  const { exit, cause, comment } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'misconfigured' });
  expect(comment).toContain('/nowhere/prices.json: there is no such file');
  expect(stage.models.requests).toEqual([]);
});
