import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { AppError } from '../base/errors.ts';

/** What an agent needs to be let in; absent where nobody asks for it. */
export const AgentSecrets = z.object({
  /** Token of its connection to the hub. */
  hub_token: z.string().optional(),
  /** Token with which it asks the gateway for the tokens of its attempts. */
  process_token: z.string().optional(),
});
export type AgentSecrets = z.infer<typeof AgentSecrets>;

const WAIT_MS = 10_000;

/** Reads an agent's secrets: one line of JSON on stdin. Throws `AppError('usage')`, which never repeats what was read. */
export async function readAgentSecrets(stdin: Readable, waitMs = WAIT_MS): Promise<AgentSecrets> {
  const lines = createInterface({ input: stdin });
  const timer = setTimeout(() => lines.close(), waitMs);
  let first: string | undefined;
  for await (const line of lines) {
    first = line;
    break;
  }
  clearTimeout(timer);
  stdin.destroy();
  const secrets = AgentSecrets.safeParse(parse(first ?? ''));
  if (secrets.success) return secrets.data;
  throw new AppError(
    'usage',
    '--token-stdin: the first line of stdin must be JSON: {"hub_token": "…", "process_token": "…"}',
  );
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
