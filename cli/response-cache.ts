import type { Log } from '../base/log.ts';
import { type Environment, secretValues } from '../config/index.ts';
import { openResponseCache, type Tape } from '../llm/index.ts';
import type { ModelSource } from './model-gateway.ts';
import { version } from './version.ts';

interface CacheParts {
  readonly settings: ModelSource;
  readonly env: Environment;
  readonly log: Log;
  say(line: string): void;
}

/** The response cache that the settings name; undefined where they name none. Throws AppError when its file cannot be used. */
export async function openCache({ settings, env, log, say }: CacheParts): Promise<Tape | undefined> {
  const { responseCache: path, apiKey } = settings;
  if (path === undefined) return undefined;
  return await openResponseCache({
    ...{ path, program: `npc-crew ${version}`, log },
    secrets: [...secretValues(env), apiKey].filter((secret) => secret !== undefined),
    onFailure: (words) => say(`npc-crew: the response cache ${path} cannot be written any more: ${words}`),
  });
}
