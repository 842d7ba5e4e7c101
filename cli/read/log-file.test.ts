import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { readLogFile, type TornTail } from './log-file.ts';

let path: string;

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'npc-log-'));
  path = join(folder, 'run.jsonl');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const line = (n: number) =>
  `${JSON.stringify({ type: 'route', from: 'a', to: 'b', task_id: '', payload: `消息 ${n}`, lsn: n })}\n`;
const lines = (count: number) => Array.from({ length: count }, (_, index) => line(index + 1)).join('');

/** What is read of a file with this content. */
async function read(content: string | Buffer): Promise<{ seen: number[]; torn: TornTail[] }> {
  await writeFile(path, content);
  const seen: number[] = [];
  const torn: TornTail[] = [];
  for await (const frame of readLogFile(path, (tail) => torn.push(tail))) seen.push(frame.lsn ?? 0);
  return { seen, torn };
}

test('R-CLI-18: of a log that ends in half a line all before is read, and the tail told by line and bytes', async () => {
  expect(await read(`${lines(3)}{"type":"mess`)).toEqual({ seen: [1, 2, 3], torn: [{ line: 4, bytes: 13 }] });
  expect(await read('{"type":"mess')).toEqual({ seen: [], torn: [{ line: 1, bytes: 13 }] });
});

test('R-CLI-18: a log cut at any byte of its last line loses that line alone', async () => {
  const whole = Buffer.from(lines(3));
  const before = Buffer.byteLength(lines(2));
  for (let cut = before + 1; cut < whole.length - 1; cut += 1) {
    expect(await read(whole.subarray(0, cut))).toEqual({ seen: [1, 2], torn: [{ line: 3, bytes: cut - before }] });
  }
  expect(await read(whole.subarray(0, -1))).toEqual({ seen: [1, 2, 3], torn: [] });
});

test.each([
  ['after a whole line', '', 4],
  ['after half a line', '{"type":"mess', 4],
])('R-CLI-18: a block of NUL bytes at the end, %s, is a torn tail', async (_, half, at) => {
  const { seen, torn } = await read(Buffer.concat([Buffer.from(lines(3) + half), Buffer.alloc(4096)]));
  expect({ seen, torn }).toEqual({ seen: [1, 2, 3], torn: [{ line: at, bytes: 4096 + half.length }] });
});

test.each([
  ['half a line', `${line(1)}{"type":"mess\n${line(2)}`, 2],
  ['half a line that the next one was joined to', `${line(1)}{"type":"mess${line(2)}${line(3)}`, 2],
  ['a block of NUL bytes', `${line(1)}${'\0'.repeat(100)}\n${line(2)}`, 2],
  ['other JSON', `${lines(2)}{"a":1}\n${line(3)}`, 3],
  ['other JSON at the end, even without a line feed', `${lines(2)}{"a":1}`, 3],
  ['a text', '# a heading', 1],
])('R-CLI-18: %s in the middle of a log is an error that names the line', async (_, content, at) => {
  await expect(read(content)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(`line ${at}:`) });
});

test('R-CLI-18: a gzipped log is read as far as it goes, wherever it was cut', async () => {
  const zipped = gzipSync(Buffer.from(lines(2000)));
  for (const part of [0.3, 0.6, 0.95]) {
    const { seen, torn } = await read(zipped.subarray(0, Math.floor(zipped.length * part)));
    expect(seen.length).toBeGreaterThan(200);
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => index + 1));
    expect(torn).toHaveLength(1);
    expect(torn[0]?.line).toBe(seen.length + 1);
  }
});

test('R-CLI-18: a gzipped log without its last bytes is told as cut, a whole one in several parts is not', async () => {
  const [one, two] = [gzipSync(lines(3)), gzipSync(line(4))];
  expect(await read(one.subarray(0, -5))).toEqual({ seen: [1, 2, 3], torn: [{ line: 4, bytes: 0 }] });
  expect(await read(Buffer.concat([one, two]))).toEqual({ seen: [1, 2, 3, 4], torn: [] });
  expect(await read(one)).toEqual({ seen: [1, 2, 3], torn: [] });
});

test('R-CLI-18: a gzipped log with a wrong byte in the middle is an error', async () => {
  const zipped = gzipSync(Buffer.from(lines(20_000)));
  zipped.fill(0xff, 50_000, 50_064);
  await expect(read(zipped)).rejects.toMatchObject({ code: 'usage' });
});

test('R-CLI-18: a byte order mark, Windows line ends and empty lines do not matter', async () => {
  expect(await read(`\uFEFF${lines(2).replaceAll('\n', '\r\n\r\n')}`)).toEqual({ seen: [1, 2], torn: [] });
  expect(await read('')).toEqual({ seen: [], torn: [] });
});
