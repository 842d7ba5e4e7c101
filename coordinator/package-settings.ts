import type { FileChange } from './file-change.ts';
import { type Said, said } from './said.ts';

/** Settings of package managers and build tools, which say among other things with what scripts and tests are run. */
export const packageManagerFile =
  /(^|\/)(\.npmrc|\.yarnrc(\.ya?ml)?|pnpm-workspace\.yaml|\.pnpmfile\.c?js|bunfig\.toml|\.cargo\/config(\.toml)?|\.mvn\/maven\.config)$/;

const keys = [
  'script-shell',
  'shell',
  'shell-emulator',
  'ignore-scripts',
  'enable-scripts',
  'enable-pre-post-scripts',
  'if-present',
  'dry-run',
  'node-options',
  'node-path',
  'use-node-version',
  'scripts-prepend-node-path',
  'script-prepend-node-path',
  'workspace',
  'workspaces',
  'prefix',
  'global-prefix',
  'local-prefix',
  'globalconfig',
  'userconfig',
  'yarn-path',
  'plugins',
  'path',
  'spec',
  'preload',
  'runner',
  'rustc',
  'rustc-wrapper',
  'rustc-workspace-wrapper',
  'alias',
  'test',
  'env',
];

/** What a change does to the settings of package managers that decide how scripts run; one clause each. */
export function packageManagerSettings({ path, before = '', after = '' }: FileChange): Said[] {
  if (path.includes('.pnpmfile.') || path.endsWith('maven.config'))
    return path.endsWith('maven.config') && !/skip|ignore|exclude|-Dtest/i.test(after.replace(before, ''))
      ? []
      : [said('依赖或测试的运行方式被修改', 'what the package manager runs was changed')];
  const [old, now] = [settings(before), settings(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((key) => old.get(key) !== now.get(key))
    .map((key) =>
      said(
        `设置 "${key}" 被修改，它决定脚本如何运行`,
        `the setting "${key}" was changed, which decides how scripts run`,
      ),
    );
}

/** The settings that matter, by their name in kebab case, with all that stands below them. */
function settings(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let current: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*([#;].*)?$/.test(line)) continue;
    const [, indent = '', open = '', name = ''] = /^(\s*)(\[*)["']?(?:--(?:\w+\.)?)?([\w-]+)/.exec(line) ?? [];
    const key = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-');
    const section = current !== undefined && found.get(current)?.startsWith('[') && open === '';
    if (name !== '' && keys.includes(key) && !section) current = key;
    else if (!section && (indent === '' || open !== '')) current = undefined;
    if (current !== undefined) found.set(current, `${found.get(current) ?? ''}${line.trim()}\n`);
  }
  return found;
}
