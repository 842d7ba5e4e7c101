import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { openPlayer, openRecorder, readCassette } from '../../llm/index.ts';
import { gatewayBench } from './gateway-bench.ts';
import { tempFolder } from './temp-repository.ts';

type Bench = Parameters<typeof gatewayBench>;
interface Recording {
  readonly name?: string;
  readonly secrets?: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
}

/** A gateway that records; `file` is whole once `done` resolved. */
export async function recordingBench(script: Bench[0], options: Bench[1] & Recording = {}) {
  const { name = 'run.jsonl', secrets = [], names = { run: 'run' }, ...rest } = options;
  const path = join(await tempFolder(), name);
  const tape = await openRecorder({
    ...{ path, program: 'npc-crew test', names, secrets, log: silentLog() },
    onFailure: (words) => expectNothing(words),
  });
  const bench = await gatewayBench(script, { ...rest, tape });
  const done = async () => {
    await bench.gateway.close();
    await bench.server.close();
    await tape.close();
  };
  return { ...bench, path, done };
}

/** A gateway that replays `path`; its upstream is not there. */
export async function replayingBench(path: string, options: Bench[1] & Recording & { language?: 'en' } = {}) {
  const { secrets = [], names = { run: 'run' }, language = 'en', name: _, ...rest } = options;
  const notices: string[] = [];
  const cassette = await readCassette(path);
  const tape = openPlayer(cassette, {
    ...{ path, names, secrets, language, log: silentLog() },
    onNotice: (line) => notices.push(line),
  });
  const upstream = { baseURL: 'http://127.0.0.1:9/v1', apiKey: '' };
  const bench = await gatewayBench({}, { upstream, ...rest, tape });
  onTestFinished(() => tape.close());
  return { ...bench, tape, notices, cassette };
}

/** The lines of a recording. */
export async function linesOf(path: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function expectNothing(words: string): never {
  throw new Error(`the recording failed: ${words}`);
}
