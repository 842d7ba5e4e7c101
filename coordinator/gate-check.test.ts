import { expect, test } from 'vitest';
import type { GateRun } from '../protocol/index.ts';
import { failedGates, openGates } from './gate-check.ts';
import { gateFailed } from './objections.ts';

const gate = (rest: Partial<GateRun>): GateRun => ({
  id: 'gate-1',
  command: 'npm test',
  kind: 'test',
  sha: 'a'.repeat(40),
  exit: 0,
  ms: 1,
  tail: '',
  ...rest,
});

test('R-RUN-10: a command that failed, or did not end, is an objection with its output', () => {
  const gates = [
    gate({}),
    gate({ command: 'npm run lint', exit: 2, tail: 'x is unused' }),
    gate({ command: 'sleep', exit: null }),
  ];
  expect(failedGates(gates)).toHaveLength(2);
  expect(failedGates(gates).map((failed) => gateFailed(failed, 'en'))).toMatchObject([
    { severity: 'blocking', message: '`npm run lint` ended with exit code 2 at aaaaaaaa', evidence: 'x is unused' },
    { message: '`sleep` did not end at aaaaaaaa' },
  ]);
});

test('R-RUN-10: a missing program is no failure; it leaves the run partial', () => {
  const gates = [
    gate({ command: 'go test ./...', exit: 127, missing: 'go' }),
    gate({ command: 'go vet ./...', exit: 127, missing: 'go' }),
  ];
  expect(failedGates(gates)).toEqual([]);
  expect(openGates(gates, false)).toEqual({ cause: 'toolchain_missing', programs: ['go'] });
});

test.each([
  ['a test that passed', [gate({})], false, undefined],
  ['a build that passed', [gate({ kind: 'build' })], false, undefined],
  ['documents only', [], true, undefined],
  ['no command at all', [], false, 'unverified'],
  ['a set-up alone', [gate({ kind: 'setup' })], false, 'unverified'],
  ['commands of the verifier alone', [gate({ kind: 'added' })], false, 'unverified'],
])('R-RUN-10: %s', (_, gates, documentsOnly, cause) => {
  expect(openGates(gates, documentsOnly)?.cause).toBe(cause);
});
