import { expect, test } from 'vitest';
import { showProgress } from './progress.ts';

/** A stderr that keeps what is written. */
function stream(isTTY: boolean) {
  const written: string[] = [];
  return { written, isTTY, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
}

test('R-CLI-43: what takes long is told at a terminal, makes room for what is printed, and leaves nothing behind', async () => {
  const [terminal, file] = [stream(true), stream(false)];
  let count = 0;
  const shown = [terminal, file].map((to) => showProgress(() => `${count} messages`, 1, to));
  expect(terminal.written).toEqual([]);
  count = 7;
  await expect.poll(() => terminal.written.at(-1)).toBe('\r\u001b[K7 messages …');
  shown[0]?.clear();
  expect(terminal.written.at(-1)).toBe('\r\u001b[K');
  await expect.poll(() => terminal.written.at(-1)).toContain('7 messages');
  for (const progress of shown) progress.end();
  expect(terminal.written.at(-1)).toBe('\r\u001b[K');
  expect(file.written).toEqual([]);
});
