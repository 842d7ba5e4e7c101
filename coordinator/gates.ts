import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GateRun } from '../protocol/index.ts';
import type { Repository } from './repository.ts';
import { runCommand, TAIL } from './run-command.ts';
import { type GateCommand, missingFrom } from './toolchain.ts';
import { addDetached, removeTree } from './trees.ts';

export interface GateOptions {
  readonly repository: Repository;
  /** The commit that is judged. */
  readonly sha: string;
  readonly commands: readonly GateCommand[];
  /** Environment of the commands: an allow-list, without secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Time for each command, ms; default 20 min. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Told when a gate is over, before the next begins. */
  readonly onGate?: (gate: GateRun) => void | Promise<void>;
  /** Told each line of output, secrets masked. */
  readonly onOutput?: (line: string, command: string) => void;
}

/**
 * Runs the commands one after the other in a clean tree at `sha`, set-up first, and throws the tree away. A command that fails is a
 * result, never an error; when set-up fails, the others are not run, since they would fail for its reason. Nothing is left running.
 */
export async function runGates(options: GateOptions): Promise<GateRun[]> {
  const { repository, sha, commands } = options;
  options.signal?.throwIfAborted();
  const order = [
    ...commands.filter(({ kind }) => kind === 'setup'),
    ...commands.filter(({ kind }) => kind !== 'setup'),
  ];
  const tree = await addDetached(repository, { name: 'gates', sha });
  // npm puts the .bin of every folder above a package on PATH; what stands beside our trees is nobody's.
  for (const above of [dirname(tree), repository.stateDir])
    await rm(join(above, 'node_modules'), { recursive: true, force: true });
  const gates: GateRun[] = [];
  try {
    for (const command of order) {
      const broken = gates.find((gate) => gate.kind === 'setup' && gate.exit !== 0);
      const facts = broken ? notRun(broken) : await runGate(command, tree, options);
      const gate: GateRun = {
        id: `gate-${gates.length + 1}`,
        kind: command.kind,
        command: command.command,
        sha,
        ...facts,
      };
      gates.push(gate);
      await options.onGate?.(gate);
    }
  } finally {
    await removeTree(repository, tree);
  }
  return gates;
}

type GateFacts = Pick<GateRun, 'exit' | 'ms' | 'tail' | 'missing'>;

async function runGate({ command }: GateCommand, tree: string, options: GateOptions): Promise<GateFacts> {
  const { mask } = options.repository.masker;
  const timeoutMs = options.timeoutMs ?? 20 * 60_000;
  const { onOutput } = options;
  const end = await runCommand({
    command,
    cwd: tree,
    // CI keeps test runners from watching; LANGUAGE keeps "not found" readable for us; a script shell that somebody put into an
    // .npmrc of the tree or of the home folder could answer in place of the script.
    env: { CI: 'true', ...options.env, LANGUAGE: 'en', npm_config_script_shell: 'bash' },
    timeoutMs,
    signal: options.signal,
    ownFolder: true,
    onLine: onOutput && ((line) => onOutput(mask(line), command)),
  });
  const note = end.timedOut ? `\n[ended: it was not done after ${Math.round(timeoutMs / 1000)} s]` : '';
  const missing = missingFrom(command, end.exit, end.output);
  return {
    exit: end.exit,
    ms: end.ms,
    tail: lastCharacters(mask(end.output.trimEnd()) + note),
    ...(missing !== undefined && { missing }),
  };
}

function notRun(setup: GateRun): GateFacts {
  const missing = setup.missing;
  return {
    exit: null,
    ms: 0,
    tail: `[not run: the set-up failed: ${setup.command}]`,
    ...(missing !== undefined && { missing }),
  };
}

function lastCharacters(text: string): string {
  // A cut may leave the second half of a character in front.
  return text.slice(-TAIL).replace(/^[\uDC00-\uDFFF]/, '');
}
