import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { AppError } from '../base/errors.ts';
import { reportFault } from './fault.ts';

let folder: string;
let told: string[];
const tell = (line: string) => told.push(line);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npc-fault-'));
  told = [];
});

test.each([
  ['usage', 2],
  ['port_in_use', 2],
  ['not_found', 2],
  ['misconfigured', 3],
  ['disk_full', 3],
  ['wire', 1],
] as const)('R-CLI-3: %s ends with exit %i and its own words', (code, exit) => {
  expect(reportFault(new AppError(code, 'take another port with --port'), folder, tell)).toBe(exit);
  expect(told).toEqual(['npc-crew: take another port with --port']);
});

test('R-CLI-3: our own fault is one line without a stack; the stack lies in diagnostics.jsonl', async () => {
  expect(reportFault(new TypeError('x is not a function\nand more'), folder, tell)).toBe(1);
  expect(told).toEqual([`npc-crew: a fault of its own: x is not a function; details in ${folder}/diagnostics.jsonl`]);
  const entry = JSON.parse(await readFile(join(folder, 'diagnostics.jsonl'), 'utf8'));
  expect(entry.err.stack).toContain('fault.test.ts');
});

test('R-CLI-3: a full disk is told as that, and is no fault of our own', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  expect(reportFault(full, folder, tell)).toBe(3);
  expect(told).toEqual(['npc-crew: no room is left to write: ENOSPC: no space left on device, write']);
});

test('R-CLI-3: a folder that cannot be written does not hide the fault', () => {
  expect(reportFault(new Error('broken'), '/dev/null/nowhere', tell)).toBe(1);
  expect(told).toEqual(['npc-crew: a fault of its own: broken']);
});

test('R-CLI-2: keys and tokens do not get into the diagnostics', async () => {
  const key = ['very', 'secret'].join('-');
  reportFault(Object.assign(new Error('no'), { options: { apiKey: key, token: key } }), folder, tell);
  expect(await readFile(join(folder, 'diagnostics.jsonl'), 'utf8')).not.toContain(key);
});
