import { AppError } from '../../base/errors.ts';
import type { Envelope } from '../../protocol/index.ts';
import { say } from '../print.ts';
import { foldAgents, foldTasks } from './fold.ts';
import { readLogFile, type TornTail } from './log-file.ts';
import { shellWord } from './shell-word.ts';
import type { FrameRange, Source } from './source.ts';

/** A log file kept from a run; a torn tail is told once. */
export function fileSource(path: string): Source {
  let told = false;
  const onTorn = (tail: TornTail) => {
    if (!told) say(`npc-crew: ${path}${tornWords(tail)}`);
    told = true;
  };
  async function* frames({ afterLsn = -1, uptoLsn = Number.POSITIVE_INFINITY, since, taskIds, tree }: FrameRange = {}) {
    for await (const frame of readLogFile(path, onTorn)) {
      const { lsn, ts = Number.NEGATIVE_INFINITY } = frame;
      if (lsn !== undefined && (lsn <= afterLsn || lsn > uptoLsn)) continue;
      if (tree !== undefined && frame.task_id !== tree && !frame.task_id.startsWith(`${tree}.`)) continue;
      if ((since === undefined || ts >= since) && (taskIds === undefined || taskIds.includes(frame.task_id)))
        yield frame;
    }
  }
  return {
    named: `--file ${shellWord(path)}`,
    frames,
    last: async () => undefined,
    // biome-ignore lint/correctness/useYield: a file has an end, and there is nothing to follow
    async *follow(): AsyncGenerator<Envelope> {
      throw new AppError(
        'usage',
        '--follow needs a hub (--hub URL) or the folder of one (--state DIR); a file has an end',
      );
    },
    tasks: () => foldTasks(frames()),
    agents: () => foldAgents(frames()),
    hub: async () => undefined,
    close: async () => {},
  };
}

/** What is missing at the end of a file, to go behind its name. */
export function tornWords({ line, bytes }: TornTail): string {
  if (bytes === 0) return `: the packed file ends early; all up to line ${line - 1} was read`;
  return `, line ${line}: the file ends in the middle of a message; its last ${bytes} bytes were left out`;
}
