// Empties dist.next/, which the build goes to, so that nothing of a build that broke off gets into this one.
import { rm } from 'node:fs/promises';

await rm('dist.next', { recursive: true, force: true });
