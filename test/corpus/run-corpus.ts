import { isDeepStrictEqual } from 'node:util';
import { RescueCase, readCases, SseCase } from './corpus-file.ts';
import { cutsOf, expectedOfRescue, runRescue } from './run-rescue.ts';
import { expectedOf, piecesOf, runSse } from './run-sse.ts';

/** One way of running one case. */
export interface Outcome {
  readonly id: string;
  /** Where in its file it stands. */
  readonly line: number;
  /** How its text was cut. */
  readonly how: string;
  readonly note: string | undefined;
  readonly expected: unknown;
  readonly got: unknown;
  readonly passed: boolean;
}

export type Kind = 'rescue' | 'sse';

/** Runs each case of a file in each way. Throws an Error that names file and line when a line is no case. */
export async function runCorpus(kind: Kind, file: string): Promise<Outcome[]> {
  if (kind === 'rescue') {
    return (await readCases(file, RescueCase)).flatMap((one) =>
      cutsOf(one).map(([how, chunks, reasoning]) =>
        judge({ ...one, how }, expectedOfRescue(one), () => runRescue(one, chunks, reasoning)),
      ),
    );
  }
  return (await readCases(file, SseCase)).flatMap((one) =>
    piecesOf(one).map(([how, pieces]) => judge({ ...one, how }, expectedOf(one), () => runSse(one, pieces))),
  );
}

function judge(
  { id, line, note, how }: { id: string; line: number; note?: string | undefined; how: string },
  expected: unknown,
  run: () => unknown,
): Outcome {
  let got: unknown;
  try {
    got = run();
  } catch (error) {
    got = { threw: error instanceof Error ? error.message : String(error) };
  }
  return { id, line, how, note, expected, got, passed: isDeepStrictEqual(got, expected) };
}
