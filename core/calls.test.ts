import { expect, test } from 'vitest';
import { z } from 'zod';
import { call, tool } from '../test/helpers/scripted-loop.ts';
import { checkCall, factsOf, inBatches, offerOf, runTool, seenCall } from './calls.ts';
import type { ToolContext } from './tool.ts';

const bash = tool('bash', {
  labels: ['why', 'timeout'],
  input: z.object({ command: z.string(), timeout: z.number().default(9), why: z.string().optional() }),
});
const read = tool('read', { concurrent: true });
const tools = new Map([bash, read].map((tool) => [tool.name, tool]));
const check = (name: string, input: Record<string, unknown>) => checkCall(call(name, input), tools, false);

test('R-LOOP-14: labels, keys the tool does not know and the order of keys make no other call', async () => {
  const { key } = await check('bash', { command: 'ls' });
  expect((await check('bash', { why: 'to see', command: 'ls', timeout: 1, name: 'x' })).key).toBe(key);
  expect((await check('bash', { command: 'ls -l' })).key).not.toBe(key);
  expect((await check('read', { a: 1, b: 2 })).key).toBe((await check('read', { b: 2, a: 1 })).key);
});

test('R-LOOP-4: arguments come checked and with their defaults', async () => {
  expect(await check('bash', { command: 'ls' })).toMatchObject({ tool: bash, input: { command: 'ls', timeout: 9 } });
  expect((await check('bash', {})).problem).toContain('command: ');
  expect((await check('none', {})).problem).toContain('The tools are: bash, read.');
});

test('R-LOOP-4: a schema that is not an object as a whole is named as such', async () => {
  const strict = tool('strict', { input: z.strictObject({}) });
  const checked = await checkCall(call('strict', { x: 1 }), new Map([['strict', strict]]), false);
  expect(checked.problem).toMatch(/arguments: .*"x"/);
});

test('R-LOOP-1: an offer shows what may be left out', () => {
  expect(offerOf(bash).parameters).toMatchObject({ required: ['command'], properties: { timeout: { default: 9 } } });
});

test('R-LOOP-6: only adjacent read-only calls share a batch', () => {
  const names = (list: string[]) =>
    inBatches(
      list.map((name) => call(name)),
      tools,
    ).map((batch) => batch.map(({ name }) => name));
  expect(names(['read', 'read', 'bash', 'read', 'bash', 'bash'])).toEqual([
    ...[['read', 'read'], ['bash'], ['read'], ['bash'], ['bash']],
  ]);
  expect(names(['read', 'unknown', 'read'])).toEqual([['read'], ['unknown'], ['read']]);
  expect(names([])).toEqual([]);
});

test('R-LOOP-3: whatever a tool throws is text', async () => {
  const context = { signal: new AbortController().signal } as ToolContext;
  const throwing = (thrown: unknown) =>
    tool('t', {
      run: () => {
        throw thrown;
      },
    });
  expect(await runTool(throwing(new Error('locked')), {}, context)).toEqual({ text: 'locked', ok: false });
  expect(await runTool(throwing('plain'), {}, context)).toEqual({ text: 'plain', ok: false });
  expect(await runTool(tool('t', { run: async () => 'fine' }), {}, context)).toEqual({ text: 'fine', ok: true });
});

test('R-LOOP-7: the log gets what was given, and null where a command was ended', () => {
  expect(factsOf({ text: 'x', ok: true })).toEqual({ ok: true, files_touched: [], result_hash: expect.any(String) });
  expect(factsOf({ text: 'x', ok: false, exit: null })).toHaveProperty('exit', null);
});

test('R-LOOP-14: what a call changed is known from its files, from its kind, or not at all', async () => {
  const seen = async (name: string, outcome: { ok: boolean; filesTouched?: string[] }, text = 'x') =>
    seenCall({ ...(await check(name, { command: 'x', path: 'a.ts' })), outcome: { text, ...outcome } }, text);
  expect(await seen('bash', { ok: true })).toMatchObject({ changed: undefined, silent: false });
  expect(await seen('bash', { ok: true, filesTouched: ['a'] })).toMatchObject({ changed: true });
  expect(await seen('bash', { ok: true, filesTouched: [] })).toMatchObject({ changed: false });
  expect(await seen('read', { ok: true })).toMatchObject({ changed: false });
  expect(await seen('none', { ok: false })).toMatchObject({ changed: false });
  expect(await seen('read', { ok: false }, 'line 12 is not there\nmore')).toMatchObject({
    failure: 'a.ts: line # is not there',
  });
  expect(await seen('bash', { ok: true }, '(no output)\n[exit 0]')).toMatchObject({ silent: true });
});
