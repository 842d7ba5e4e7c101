// Puts a finished build in the place of the one before by renames: a program that runs meanwhile does not lose its modules.
import { rename, rm } from 'node:fs/promises';

await rm('dist.old', { recursive: true, force: true });
await rename('dist', 'dist.old').catch((error) => {
  if (error.code !== 'ENOENT') throw error;
});
await rename('dist.next', 'dist');
await rm('dist.old', { recursive: true, force: true });
