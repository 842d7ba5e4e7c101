import type { CommitView, SourceCommands } from './commit-view.ts';
import { detectNode } from './detect-node.ts';
import { detectPython } from './detect-python.ts';
import type { RepoConfig } from './repo-config.ts';
import type { Repository } from './repository.ts';
import type { GateCommand } from './toolchain.ts';

export interface DetectedCommands {
  readonly setup?: string;
  readonly build?: string;
  readonly test?: string;
  readonly lint?: string;
  /** Files that the guess rests on. */
  readonly guessedFrom: readonly string[];
}

type Detector = (view: CommitView) => Promise<SourceCommands | undefined>;

/** In order of precedence: a later source gives only what the earlier ones lack. */
const detectors: readonly Detector[] = [
  detectNode,
  detectPython,
  detectGo,
  detectRust,
  detectMaven,
  detectGradle,
  detectMake,
];

/** Guesses a repository's commands from what a commit holds in its root; nothing is checked out and nothing runs. */
export async function detectCommands(repository: Repository, sha: string): Promise<DetectedCommands> {
  const view: CommitView = {
    names: new Set(await repository.list(sha)),
    read: (path) => repository.show(sha, path),
    list: (folder) => repository.list(sha, folder),
  };
  const found: { build?: string; test?: string; lint?: string } = {};
  const setups: string[] = [];
  const guessedFrom: string[] = [];
  for (const detect of detectors) {
    const source = await detect(view);
    if (!source) continue;
    const kinds = (['build', 'test', 'lint'] as const).filter(
      (kind) => source[kind] !== undefined && found[kind] === undefined,
    );
    if (kinds.length === 0) continue;
    for (const kind of kinds) found[kind] = source[kind] as string;
    if (source.setup) setups.push(source.setup);
    guessedFrom.push(source.from);
  }
  return { ...(setups.length > 0 && { setup: setups.join(' && ') }), ...found, guessedFrom };
}

/**
 * The commands that a run checks with, set-up first: what the repository configured, and for the kinds that it did not, the guess. An
 * empty configured command means none.
 */
export function gateCommands(
  config: RepoConfig['commands'],
  detected: DetectedCommands,
): (GateCommand & { readonly guessed: boolean })[] {
  return (['setup', 'build', 'test', 'lint'] as const)
    .map((kind) => ({ kind, command: config[kind] ?? detected[kind] ?? '', guessed: config[kind] === undefined }))
    .filter(({ command }) => command !== '');
}

async function detectGo({ names }: CommitView): Promise<SourceCommands | undefined> {
  if (!names.has('go.mod') && !names.has('go.work')) return undefined;
  return {
    build: 'go build ./...',
    test: 'go test ./...',
    lint: 'go vet ./...',
    from: names.has('go.mod') ? 'go.mod' : 'go.work',
  };
}

async function detectRust({ names, read }: CommitView): Promise<SourceCommands | undefined> {
  if (!names.has('Cargo.toml')) return undefined;
  const all = /^\s*\[workspace\]/m.test((await read('Cargo.toml')) ?? '') ? ' --workspace' : '';
  const locked = names.has('Cargo.lock') ? ' --locked' : '';
  return { build: `cargo build${all}${locked}`, test: `cargo test${all}${locked}`, from: 'Cargo.toml' };
}

async function detectMaven({ names }: CommitView): Promise<SourceCommands | undefined> {
  if (!names.has('pom.xml')) return undefined;
  // A wrapper's executable bit gets lost on some systems, so the shell runs it.
  const maven = names.has('mvnw') ? 'sh ./mvnw' : 'mvn';
  return { build: `${maven} -B -ntp test-compile`, test: `${maven} -B -ntp test`, from: 'pom.xml' };
}

async function detectGradle({ names }: CommitView): Promise<SourceCommands | undefined> {
  const from = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'].find((name) =>
    names.has(name),
  );
  if (!from) return undefined;
  const gradle = names.has('gradlew') ? 'sh ./gradlew' : 'gradle';
  return { build: `${gradle} --no-daemon testClasses`, test: `${gradle} --no-daemon test`, from };
}

async function detectMake({ names, read }: CommitView): Promise<SourceCommands | undefined> {
  const from = ['GNUmakefile', 'makefile', 'Makefile'].find((name) => names.has(name));
  if (!from) return undefined;
  const targets = new Set(
    [...((await read(from)) ?? '').matchAll(/^([\w./-]+(?:[ \t]+[\w./-]+)*)[ \t]*::?(?!=)/gm)].flatMap((match) =>
      (match[1] ?? '').split(/\s+/),
    ),
  );
  const target = (...candidates: string[]): string | undefined =>
    candidates.find((candidate) => targets.has(candidate));
  const make = (name: string | undefined): string | undefined => name && `make ${name}`;
  const commands = {
    build: make(target('build', 'compile')),
    test: make(target('test', 'tests', 'check')),
    lint: make(target('lint', 'vet')),
  };
  const given = Object.entries(commands).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? undefined : { ...Object.fromEntries(given), from };
}
