import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { checkCommandLine, runExternalAgent } from '../../agents/external/index.ts';
import { watchForOrphan } from '../../agents/orphan.ts';
import { roleNamed, roles } from '../../agents/roles.ts';
import { runAgent } from '../../agents/runtime.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { childEnv, environment, PlaceSettings, readConfig } from '../../config/index.ts';
import { type AssignedTask, connectHub, type HubClient } from '../../hub-client/index.ts';
import { AgentName, Role } from '../../protocol/index.ts';
import { type AgentSecrets, readAgentSecrets } from '../agent-secrets.ts';
import { openDiagnostics } from '../diagnostics.ts';
import { Exit } from '../exit-code.ts';
import { hubAddress } from '../hub-address.ts';
import { findHubToken } from '../hub-token.ts';
import { onlyOne, quiet } from '../options.ts';
import { say, think } from '../print.ts';
import { aborted, abortOnSignal } from '../signals.ts';
import { makeStateFolder, stateRoot } from '../state-folder.ts';
import { type AgentModels, openModels } from './models.ts';

/** What `npc-crew agent` was told. */
export interface AgentOptions {
  readonly role: string;
  readonly name?: string;
  readonly hub: string;
  readonly gateway?: string;
  /** Command line of another program that plays the role. */
  readonly exec?: string;
  /** Started by a run: the secrets come through stdin, and the agent ends with the run. */
  readonly tokenStdin?: boolean;
  readonly state?: string;
  /** False with `--no-thinking`. */
  readonly thinking?: boolean;
  /** File of the token for the hub. */
  readonly tokenFile?: string;
}

/** Joins a hub as one agent, works until a signal comes or its run is gone, and returns the exit code. */
export async function agentProcess(options: AgentOptions): Promise<number> {
  const { role, name = `${role}-${randomInt(1000, 10_000)}` } = options;
  checkNames(role, name, options);
  const url = hubAddress(options.hub);
  const parent = process.ppid;
  const env = environment();
  const signal = abortOnSignal();
  const secrets = options.tokenStdin ? await readAgentSecrets(process.stdin) : {};
  const { logLevel, thinking } = readConfig(PlaceSettings, { flags: quiet(options), environment: env });
  const hubToken = secrets.hub_token ?? (await findHubToken(options));
  const folder = await makeStateFolder(options.state ?? join(stateRoot(env), 'agents'));
  const log = openDiagnostics(folder, logLevel);
  const client = await connectHub({ url, name, token: hubToken, roles: [role], title: role, log });
  try {
    await serve(options, { client, secrets, hubToken, log, signal, parent, thinking });
  } finally {
    await client.close();
  }
  return Exit.ok;
}

interface Joined {
  readonly client: HubClient;
  readonly secrets: AgentSecrets;
  readonly hubToken: string | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly thinking: boolean;
  /** pid of the process that started this one. */
  readonly parent: number;
}

async function serve(options: AgentOptions, joined: Joined): Promise<void> {
  const { client, secrets, hubToken, log, signal, parent } = joined;
  const { role, exec, tokenStdin } = options;
  const gateway = options.gateway && { url: options.gateway, processToken: secrets.process_token ?? '' };
  const models = await openModels({
    role,
    client,
    optional: exec !== undefined,
    log,
    say,
    ...(joined.thinking && { think }),
    ...(gateway && { gateway }),
  });
  if (!tokenStdin) {
    tellState(client, options.hub);
    say(`npc-crew: ${client.name} is on ${options.hub} as ${role}; Ctrl-C ends it`);
    say(`npc-crew: tasks that name no work tree are done in ${process.cwd()}`);
  }
  const hasParent = tokenStdin ? { hasParent: () => process.ppid === parent } : {};
  const known = [hubToken, secrets.process_token].filter((value) => value !== undefined);
  try {
    await work({ role, client, models, exec, env: childEnv(environment()), secrets: known, log, signal, ...hasParent });
  } finally {
    await models.close();
  }
}

/** Tells a person when the hub goes and comes back. */
function tellState(client: HubClient, url: string): void {
  client.onState((state) => {
    if (state === 'lost') say(`npc-crew: the hub ${url} is lost; trying to reach it again`);
    else if (state === 'connected') say(`npc-crew: the hub ${url} is back`);
  });
}

interface WorkOptions {
  readonly role: string;
  readonly client: HubClient;
  readonly models: AgentModels;
  readonly exec: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly hasParent?: () => boolean;
}

async function work({ exec, models, signal, hasParent, ...common }: WorkOptions): Promise<void> {
  const { role, client } = common;
  const parent = hasParent && { hasParent };
  const place = { ...common, cwd: process.cwd() };
  if (exec === undefined) {
    const openModel = (task: AssignedTask) => models.open(task);
    await runAgent({ ...place, role: roleNamed(role), openModel, print: say, signal, ...parent });
    return;
  }
  const orphaned = new AbortController();
  const unwatch = hasParent && watchForOrphan({ client, hasParent, clock: client.clock }, () => orphaned.abort());
  const guide = Object.hasOwn(roles, role) ? { guide: await readFile(roleNamed(role).prompt, 'utf8') } : {};
  const attemptEnv = (task: AssignedTask) => models.variablesFor(task);
  const stop = runExternalAgent({ ...place, ...guide, exec, attemptEnv, say });
  await aborted(AbortSignal.any([signal, orphaned.signal]));
  unwatch?.();
  await stop();
}

function checkNames(role: string, name: string, { exec, gateway, tokenStdin, tokenFile }: AgentOptions): void {
  if (exec === undefined) roleNamed(role);
  else checkCommandLine(exec);
  const wrong = (what: string, { error }: { error?: z.ZodError | undefined }) => {
    if (error) throw new AppError('usage', `${what}: ${error.issues[0]?.message}`);
  };
  wrong(`role ${role}`, Role.safeParse(role));
  wrong(`--name ${name}`, AgentName.safeParse(name));
  if (gateway !== undefined && !/^https?:\/\//.test(gateway)) {
    throw new AppError(
      'usage',
      `--gateway ${gateway}: this is no address of a gateway; it looks like http://127.0.0.1:PORT`,
    );
  }
  onlyOne({ '--token-stdin': tokenStdin, '--token-file': tokenFile });
}
