import type { CommitView, SourceCommands } from './commit-view.ts';

/** How a package manager is called. */
interface Manager {
  readonly install: string;
  readonly run: (script: string) => string;
  /** Runs a program of a dependency. */
  readonly exec: string;
}

const npm = (install: string): Manager => ({
  install,
  run: (script) => (script === 'test' ? 'npm test' : `npm run ${script}`),
  exec: 'npx --no-install',
});
const pnpm: Manager = {
  install: 'pnpm install --frozen-lockfile',
  run: (script) => `pnpm run ${script}`,
  exec: 'pnpm exec',
};
const yarn = (install: string): Manager => ({ install, run: (script) => `yarn run ${script}`, exec: 'yarn run' });
const bun: Manager = {
  install: 'bun install --frozen-lockfile',
  run: (script) => `bun run ${script}`,
  exec: 'bunx --no-install',
};

interface Package {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: readonly string[];
  readonly packageManager: string;
  readonly hasWorkspaces: boolean;
}

/** Commands of a `package.json`: its scripts, run by the package manager that its lock file belongs to. */
export async function detectNode({ names, read }: CommitView): Promise<SourceCommands | undefined> {
  const own = parsePackage(await read('package.json'));
  if (!own) return undefined;
  const manager = managerOf(names, own);
  const script = (test: (text: string) => boolean, ...candidates: string[]): string | undefined => {
    const name = candidates.find((candidate) => own.scripts[candidate] !== undefined && test(own.scripts[candidate]));
    return name && manager.run(name);
  };
  const any = (): boolean => true;
  const typed = own.dependencies.includes('typescript') && names.has('tsconfig.json');
  const build =
    script(any, 'build', 'typecheck', 'type-check', 'check-types', 'check:types') ??
    (typed ? `${manager.exec} tsc --noEmit` : undefined);
  const test = script(isRealTest, 'test:ci', 'test', 'test:unit', 'test:run', 'tests');
  const lint = script(any, 'lint', 'lint:ci');
  const installs = own.dependencies.length > 0 || own.hasWorkspaces;
  if (!build && !test && !lint) return undefined;
  return {
    ...(installs && { setup: manager.install }),
    ...(build && { build }),
    ...(test && { test }),
    ...(lint && { lint }),
    from: 'package.json',
  };
}

/** The text that `npm init` puts there tests nothing, and a watcher never ends. */
function isRealTest(script: string): boolean {
  return (
    script.trim() !== '' &&
    !/no test specified/i.test(script) &&
    !/--watch(All)?(?!=false)\b|\bwatch\b.*\btest\b/.test(script)
  );
}

function managerOf(names: ReadonlySet<string>, own: Package): Manager {
  const berry = names.has('.yarnrc.yml') || /^yarn@[2-9]/.test(own.packageManager);
  const yarnManager = yarn(berry ? 'yarn install --immutable' : 'yarn install --frozen-lockfile');
  if (names.has('package-lock.json') || names.has('npm-shrinkwrap.json')) return npm('npm ci');
  if (names.has('pnpm-lock.yaml')) return pnpm;
  if (names.has('yarn.lock')) return yarnManager;
  if (names.has('bun.lock') || names.has('bun.lockb')) return bun;
  if (own.packageManager.startsWith('pnpm')) return { ...pnpm, install: 'pnpm install --no-lockfile' };
  if (own.packageManager.startsWith('yarn')) return yarn('yarn install');
  if (own.packageManager.startsWith('bun')) return { ...bun, install: 'bun install --no-save' };
  // Without a lock file none is made, or it would turn up in the work as a change.
  return npm('npm install --no-package-lock');
}

function parsePackage(source: string | undefined): Package | undefined {
  if (source === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(source.replace(/^\uFEFF/, ''));
    if (typeof value !== 'object' || value === null) return undefined;
    const group = (key: string): Record<string, unknown> => {
      const found = (value as Record<string, unknown>)[key];
      return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
    };
    const scripts = Object.entries(group('scripts')).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    const manager = (value as { packageManager?: unknown }).packageManager;
    return {
      scripts: Object.fromEntries(scripts),
      dependencies: ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((key) =>
        Object.keys(group(key)),
      ),
      packageManager: typeof manager === 'string' ? manager : '',
      hasWorkspaces: 'workspaces' in value,
    };
  } catch {
    // a package.json that is no JSON has no commands; the work may be to mend it
    return undefined;
  }
}
