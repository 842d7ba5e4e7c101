import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder that only its owner can look into, and those above it; returns the ones that were not there, the topmost first.
 * `mkdir` of Node does the same, but tries for ever where a file system lets nobody make folders, as /proc.
 */
export function makeFolder(path: string): string[] {
  try {
    return make(path);
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error;
    return [...makeFolder(above), ...make(path)];
  }
}

function make(path: string): string[] {
  try {
    mkdirSync(path, { mode: 0o700 });
    return [path];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return [];
    throw error;
  }
}
