import { join } from 'node:path';
import { AppError } from '../base/errors.ts';
import { environment, PlaceSettings, readConfig } from '../config/index.ts';
import { readTokenFile } from './token-file.ts';

/** Where a hub keeps its token when it was told no other place. */
export function tokenFileIn(folder: string): string {
  return join(folder, 'token');
}

/** Where a token for a hub may be found. */
export interface TokenPlaces {
  /** Named by the person; it must hold one. */
  readonly tokenFile?: string | undefined;
  /** State folder of the hub, where it may have left one. */
  readonly folder?: string | undefined;
}

/** Every token of a hub that may stand in its log: of the named file, of NPC_HUB_TOKEN, and the one in its folder. */
export async function knownHubTokens({ tokenFile, folder }: TokenPlaces): Promise<string[]> {
  const { hubToken } = readConfig(PlaceSettings, { environment: environment() });
  const found = [
    tokenFile === undefined ? undefined : await readTokenFile(tokenFile),
    hubToken,
    folder === undefined ? undefined : await tokenIn(folder),
  ];
  return found.filter((token) => token !== undefined);
}

/** The token for a hub: of the named file, else of NPC_HUB_TOKEN, else the one that the hub left in its folder; undefined when there is none. */
export async function findHubToken({ tokenFile, folder }: TokenPlaces = {}): Promise<string | undefined> {
  if (tokenFile !== undefined) return readTokenFile(tokenFile);
  const { hubToken } = readConfig(PlaceSettings, { environment: environment() });
  if (hubToken !== undefined || folder === undefined) return hubToken;
  return tokenIn(folder);
}

async function tokenIn(folder: string): Promise<string | undefined> {
  return readTokenFile(tokenFileIn(folder)).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  });
}
