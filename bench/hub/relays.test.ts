import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { countLog } from '../../hub/index.ts';
import { Children } from '../children.ts';
import { measureCell } from './cell.ts';
import { echo, flood } from './exchange.ts';
import { buildFrame, frameSource } from './frames.ts';
import { openLink } from './links/open-link.ts';
import { variants } from './variants/relay.ts';
import { startRelay } from './variants/start-relay.ts';

test.for(variants)('R-HUB-88: %s relays every frame of a flood and of an echo', async (variant) => {
  const folder = await mkdtemp(join(tmpdir(), 'npc-bench-test-'));
  const relay = await startRelay({ variant, folder });
  const levelOne = variant === 'level-1';
  const open = (name: string, other: string) =>
    openLink(variant, {
      port: relay.port,
      name,
      bytes: 256,
      next: frameSource({ from: name, to: other, bytes: 256, levelOne }, 100),
    });
  const [a, b] = [await open('a', 'b'), await open('b', 'a')];
  onTestFinished(async () => {
    a.close();
    b.close();
    await relay.close();
    await rm(folder, { recursive: true });
  });
  let passed = 0;
  const { send } = a;
  a.send = () => {
    passed += 1;
    send();
  };
  expect(await flood(a, b, 500)).toMatchObject({ messages: 500 });
  const { messages, p50, p99 } = await echo(a, b, { window: 8, ms: 20 });
  expect(messages).toBe(2 * (passed - 500));
  expect(p50).toBeGreaterThan(0);
  expect(p99).toBeGreaterThanOrEqual(p50);
  if (levelOne || variant === 'level-0') {
    expect(await countLog(join(folder, 'log.db'))).toBe(500 + messages);
  }
});

test('R-HUB-88: frames have exactly their size, and at level 1 an id that no other one has', () => {
  const kind = { from: 'a', to: 'b', bytes: 256 };
  const [plain, one] = [buildFrame({ ...kind, levelOne: false }), buildFrame({ ...kind, levelOne: true })];
  expect([Buffer.byteLength(plain), Buffer.byteLength(one)]).toEqual([256, 256]);
  expect(Object.keys(JSON.parse(plain))).toEqual(['type', 'from', 'to', 'task_id', 'payload']);
  const next = frameSource({ ...kind, levelOne: true }, 2);
  const ids = Array.from({ length: 5 }, () => (JSON.parse(next()) as { id: string }).id);
  expect(new Set(ids).size).toBe(5);
});

test('R-HUB-88: a cell is measured in processes of its own, and nothing of it is left', async () => {
  const children = new Children();
  onTestFinished(() => children.clear());
  const folders: string[] = [];
  const makeFolder = children.folder.bind(children);
  children.folder = async () => {
    folders.push(await makeFolder());
    return folders.at(-1) as string;
  };
  const size = { flood: { 256: 200 }, warmUp: 10, warmUpAlone: 10, window: 10 };
  const plan = { variant: 'level-1', bytes: 256, repetition: 1, works: ['echo 1', 'flood'], size } as const;
  const cells = await measureCell(children, plan);
  expect(cells).toMatchObject([
    { work: 'echo 1', variant: 'level-1', p50: expect.any(Number) },
    { work: 'flood', variant: 'level-1', messages: 200 },
  ]);
  for (const { cpu, rate } of cells) expect(Math.min(cpu, rate)).toBeGreaterThan(0);
  expect(folders.filter((path) => existsSync(path))).toEqual([]);
  // What is broken off goes as well.
  const left = await children.folder();
  const { pid } = await children.start('hub/clients-process', null, { core: 1 });
  await children.clear();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(existsSync(left)).toBe(false);
  await expect(children.start('hub/clients-process', null, { core: 1 })).rejects.toThrow('over');
});
