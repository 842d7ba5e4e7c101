import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { GateRun } from '../protocol/index.ts';
import { neededPrograms } from './shell-words.ts';

/** A command that the run checks with. */
export interface GateCommand {
  readonly kind: GateRun['kind'];
  readonly command: string;
}

/** An image that has a program, and a line that adds it where the image alone does not. */
interface Cure {
  readonly image: string;
  readonly line?: string;
}

const apt = (packages: string): string =>
  `RUN apt-get update && apt-get install -y --no-install-recommends ${packages} && rm -rf /var/lib/apt/lists/*`;
const go: Cure = { image: 'golang:1.25-bookworm' };
const python: Cure = { image: 'python:3.13-bookworm' };
const pip = (name: string): Cure => ({ ...python, line: `RUN pip install --no-cache-dir ${name}` });
const rust: Cure = { image: 'rust:1-bookworm' };
const java: Cure = { image: 'maven:3.9-eclipse-temurin-21', line: apt('git') };
const gradle: Cure = { image: 'gradle:8-jdk21', line: apt('git') };
const node: Cure = { image: 'node:24-bookworm' };
const yarn: Cure = { ...node, line: 'RUN corepack enable' };
const buildTools: Cure = { image: 'buildpack-deps:bookworm', line: apt('cmake') };

/** Programs that come with an image and not with a project's own set-up. */
const cures: Readonly<Record<string, Cure>> = {
  ...{ go, gofmt: go, cargo: rust, rustc: rust, rustup: rust, java, javac: java, mvn: java, gradle },
  ...{
    python,
    python3: python,
    pip: python,
    pip3: python,
    pytest: pip('pytest'),
    tox: pip('tox'),
    nox: pip('nox'),
    uv: pip('uv'),
  },
  ...{ poetry: pip('poetry'), pipenv: pip('pipenv'), ruff: pip('ruff'), mypy: pip('mypy') },
  ...{
    node,
    npm: node,
    npx: node,
    corepack: yarn,
    yarn,
    pnpm: yarn,
    bun: { image: 'oven/bun:1-debian', line: apt('git') },
  },
  ...{
    make: buildTools,
    cmake: buildTools,
    gcc: buildTools,
    'g++': buildTools,
    cc: buildTools,
    clang: { image: 'silkeh/clang:19' },
  },
  ...{ ruby: { image: 'ruby:3-bookworm' }, bundle: { image: 'ruby:3-bookworm' }, rake: { image: 'ruby:3-bookworm' } },
  ...{
    php: { image: 'php:8-bookworm' },
    composer: { image: 'composer:2' },
    dotnet: { image: 'mcr.microsoft.com/dotnet/sdk:8.0' },
  },
  ...{ deno: { image: 'denoland/deno:debian' }, swift: { image: 'swift:6-bookworm' }, mix: { image: 'elixir:1' } },
};

/** What a project's own set-up command may bring although an image can have it too. */
const broughtBySetup = new Set([
  'pytest',
  'tox',
  'nox',
  'ruff',
  'mypy',
  'poetry',
  'uv',
  'pipenv',
  'pnpm',
  'yarn',
  'bundle',
  'rake',
]);

/**
 * Programs that the commands need and that `path` (a PATH) does not have. With a set-up command, only what such a command does not bring
 * is told; the rest shows when the command runs.
 */
export async function missingPrograms(commands: readonly GateCommand[], path: string): Promise<string[]> {
  const setsUp = commands.some(({ kind }) => kind === 'setup');
  const needed = new Set(
    commands.flatMap(({ kind, command }) =>
      neededPrograms(command).filter(
        (program) => !setsUp || kind === 'setup' || (program in cures && !broughtBySetup.has(program)),
      ),
    ),
  );
  const missing: string[] = [];
  for (const program of needed) if (!(await isOnPath(program, path))) missing.push(program);
  return missing;
}

async function isOnPath(program: string, path: string): Promise<boolean> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder === '' ? '.' : folder, program);
    const found = await access(file, constants.X_OK).then(
      async () => (await stat(file)).isFile(),
      () => false,
    );
    if (found) return true;
  }
  return false;
}

/** How to get an image with a missing program: one sentence and the Dockerfile, as Markdown. */
export function dockerfileCure(program: string, language: 'zh-CN' | 'en'): string {
  const cure = Object.hasOwn(cures, program) ? cures[program] : undefined;
  const zh = language === 'zh-CN';
  if (!cure) {
    return zh
      ? `在智能体镜像里安装 \`${program}\`，或者在 \`.npc/config.yml\` 的 \`commands.setup\` 里安装它。`
      : `Install \`${program}\` in the agent's image, or in \`commands.setup\` of \`.npc/config.yml\`.`;
  }
  const lines = [
    `FROM ${cure.image}`,
    ...(cure.line ? [cure.line] : []),
    'COPY --from=npc-crew /opt/npc-crew /opt/npc-crew',
    'RUN ln -s /opt/npc-crew/bin/npc-crew /usr/local/bin/npc-crew',
    'CMD ["npc-crew", "run"]',
  ];
  const sentence = zh
    ? `用带有 \`${program}\` 的镜像运行智能体，Dockerfile（\`npc-crew\` 换成你的镜像地址）：`
    : `Run the agent on an image that has \`${program}\`; its Dockerfile (put your own image's address for \`npc-crew\`):`;
  return `${sentence}\n\`\`\`dockerfile\n${lines.join('\n')}\n\`\`\``;
}

/** The program whose absence made a command fail, as far as its exit code and the end of its output tell; undefined when it was not that. */
export function missingFrom(command: string, exit: number | null, output: string): string | undefined {
  if (exit === 0 || exit === null) return undefined;
  const name = '["\'`‘]?([\\w@.+-][\\w@./+-]*)["\'`’]?';
  const said = [
    new RegExp(`^\\S*(?:sh|bash|dash): (?:line )?\\d+: ${name}: (?:command )?not found`, 'm'),
    new RegExp(`^\\S*sh: ${name}: (?:command )?not found`, 'm'),
    new RegExp(`^\\S*env: ${name}: No such file or directory`, 'm'),
    new RegExp(`^make(?:\\[\\d+\\])?: ${name}: (?:No such file or directory|Command not found)`, 'm'),
    new RegExp(`exec: ${name}: executable file not found`, 'm'),
  ];
  if (exit === 127 || /^make.*Error 127$/m.test(output)) {
    const found = said.map((form) => form.exec(output)?.[1]).find((program) => program !== undefined);
    return found ?? neededPrograms(command)[0] ?? command.split(/\s+/).find((word) => /^[^=]+$/.test(word));
  }
  const python = /No module named '?(pytest|tox|nox|ruff|mypy|unittest2)'?\s*$/m.exec(output)?.[1];
  return python !== undefined && command.includes(python) ? python : undefined;
}
