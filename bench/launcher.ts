import { readFileSync } from 'node:fs';

/** The options of Node with which bin/npc-crew starts the hub: it is measured as people run it. */
export function launcherOptions(): string[] {
  const root = import.meta.url.endsWith('.ts') ? '../' : '../../';
  const launcher = readFileSync(new URL(`${root}bin/npc-crew`, import.meta.url), 'utf8');
  const flags = /^flags='(.+)'$/m.exec(launcher)?.[1];
  if (flags === undefined) throw new Error('bin/npc-crew does not say flags=');
  return flags.split(' ');
}
