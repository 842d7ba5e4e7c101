import { createWriteStream, type WriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { AppError } from '../../base/errors.ts';
import { fileWords } from '../../base/file-words.ts';
import { environment, secretValues } from '../../config/index.ts';
import type { Envelope } from '../../protocol/index.ts';
import { knownHubTokens } from '../hub-token.ts';
import { print, readerGone, say } from '../print.ts';
import { showProgress } from '../progress.ts';
import type { LogFilter } from '../read/filter.ts';
import { withOffers } from '../read/offers.ts';
import { openSource, type SourceOptions, stateFolder } from '../read/open-source.ts';
import { createRedactor, type Redactor } from '../read/redact.ts';
import { wantedFrames } from '../read/wanted.ts';
import { plural, size } from '../show/units.ts';
import { abortOnSignal } from '../signals.ts';

export interface ExportOptions extends SourceOptions {
  /** Where to; `-` is stdout, a name that ends in `.gz` is packed. */
  readonly export: string;
  readonly last?: number;
  /** Writes over a file that is there. */
  readonly force?: boolean;
}

/** Writes the frames that fit as JSON Lines, masked; the file is there as a whole or not at all. */
export async function exportLog(
  { export: target, last, force = false, ...where }: ExportOptions,
  filter: LogFilter,
): Promise<void> {
  if (target !== '-') await mustBeWritable(target, force);
  const ofFolder = where.hub === undefined && where.file === undefined;
  const state = ofFolder ? { state: await stateFolder(where.state) } : {};
  const tokens = await knownHubTokens({ tokenFile: where.tokenFile, folder: state.state });
  const redactor = createRedactor([...secretValues(environment()), ...tokens]);
  const source = await openSource({ ...where, ...state });
  const counts: Counts = { messages: 0, bytes: 0 };
  const progress = showProgress(() => plural(counts.messages, 'message'));
  try {
    const frames = wantedFrames(source, await withOffers(source, filter), last);
    const toStdout = target === '-';
    if (toStdout) await writeOut(frames, redactor, counts);
    else await writeFile(target, frames, redactor, counts);
    progress.end();
    const masked = `${plural(redactor.places, 'place')} masked`;
    const held = toStdout ? '' : `, ${size(counts.bytes)} in ${target}`;
    // what lay in between is lost with the reader, and nobody can say how much it was
    const written = counts.cut ? 'the reader went away; it got at most ' : '';
    say(`npc-crew: ${written}${plural(counts.messages, 'message')}${held}; ${masked}`);
  } finally {
    progress.end();
    await source.close();
  }
}

interface Counts {
  messages: number;
  bytes: number;
  /** Whether the reader went away before the end. */
  cut?: boolean;
}

/** Throws `AppError('usage')` where something lies already: a log that was kept may be the only one. */
async function mustBeWritable(target: string, force: boolean): Promise<void> {
  const there = await stat(target).catch(() => undefined);
  // a device would be replaced by a file
  if (there && !there.isFile())
    throw new AppError('usage', `cannot write ${target}: it is no file; name another, or - for stdout`);
  if (there && !force) throw new AppError('usage', `${target} is there already; name another file, or add --force`);
}

async function writeOut(frames: AsyncIterable<Envelope>, redactor: Redactor, counts: Counts): Promise<void> {
  const gone = readerGone();
  for await (const frame of frames) {
    await print(JSON.stringify(redactor.redact(frame)));
    if (gone.aborted) {
      counts.cut = true;
      return;
    }
    counts.messages += 1;
  }
}

async function writeFile(
  target: string,
  frames: AsyncIterable<Envelope>,
  redactor: Redactor,
  counts: Counts,
): Promise<void> {
  async function* lines() {
    for await (const frame of frames) {
      counts.messages += 1;
      yield `${JSON.stringify(redactor.redact(frame))}\n`;
    }
  }
  // beside the file, since only there a rename is one step
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  const signal = abortOnSignal(5000);
  try {
    const file = createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true });
    const steps: [Readable, ...Writable[]] = [Readable.from(lines()), file];
    if (target.endsWith('.gz')) steps.splice(1, 0, createGzip());
    await pipeline(steps, { signal });
    counts.bytes = (file as WriteStream).bytesWritten;
    await rename(temporary, target);
    await syncFolder(dirname(target));
  } catch (error) {
    await rm(temporary, { force: true });
    if (signal.aborted) throw new AppError('cancelled', `ended by ${String(signal.reason)}; ${target} was not written`);
    throw writeError(target, error);
  }
}

/** A disk's complaint as something a person can mend; other faults as they are. */
function writeError(target: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof AppError || syscall === undefined) return error;
  const message = `cannot write ${target}: ${fileWords(error)}`;
  return new AppError(code === 'ENOSPC' ? 'disk_full' : 'usage', message, { cause: error });
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
