import { AppError } from '../../base/errors.ts';
import { findHubToken } from '../hub-token.ts';
import { onlyOne } from '../options.ts';
import { workIn } from '../state-folder.ts';
import type { Place } from './dead.ts';
import { stateFolder } from './open-source.ts';
import { shellWord } from './shell-word.ts';

/** A hub that is up, to be spoken to. */
export interface HubPlace {
  readonly url: string;
  readonly token?: string | undefined;
  /** The options that name it to another command. */
  readonly named: string;
}

/** The hub that is named, or that is at work in the state folder. Throws `AppError('not_found')` where none is. */
export async function findHub(where: Place): Promise<HubPlace> {
  onlyOne({ '--state': where.state, '--hub': where.hub });
  const withToken = where.tokenFile === undefined ? '' : ` --token-file ${shellWord(where.tokenFile)}`;
  if (where.hub !== undefined) {
    return { url: where.hub, token: await findHubToken(where), named: `--hub ${shellWord(where.hub)}${withToken}` };
  }
  const folder = await stateFolder(where.state);
  const work = await workIn(folder);
  if (!work) throw new AppError('not_found', `no hub is at work in ${folder}; name one with --hub URL`);
  const token = await findHubToken({ tokenFile: where.tokenFile, folder });
  return { url: work.hub_url, token, named: `--state ${shellWord(folder)}${withToken}` };
}
