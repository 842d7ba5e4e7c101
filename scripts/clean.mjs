// Empties dist/, so that a file deleted from the source does not live on in the build.
import { rm } from 'node:fs/promises';

await rm('dist', { recursive: true, force: true });
