import { expect, test } from 'vitest';
import { type OverheadCell, toSdk } from './overhead.ts';

const cell = (client: OverheadCell['client'], repetition: number, cpu: number): OverheadCell => ({
  ...{ client, repetition, cpu, work: 'text', cut: 'alone', wall: cpu, deltas: 10 },
});

test('R-LLM-69: a client is compared with the SDK of the same repetition and reply, and with nothing else', () => {
  const cells = [
    ...[cell('sdk', 1, 10), cell('client', 1, 20), cell('client', 2, 60), cell('sdk', 2, 20)],
    { ...cell('sdk', 2, 1), work: 'call' as const },
    cell('client', 3, 1),
  ];
  expect(toSdk(cells, { work: 'text', cut: 'alone', client: 'client' })).toEqual([2, 3]);
});
