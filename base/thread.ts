import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

/** Starts a thread from the file that lies at `name` (without its suffix) beside the module `from`, built or as source. */
export function startThread(from: string, name: string, data: unknown): Worker {
  const options = { workerData: data };
  if (!from.endsWith('.ts')) return new Worker(new URL(`${name}.js`, from), options);
  const file = new URL(`${name}.ts`, from);
  if ('typescript' in process.features && process.features.typescript) return new Worker(file, options);
  // Node 20 cannot run the source as it is, and `--import tsx` leaves threads out.
  const tsx = String(pathToFileURL(createRequire(from).resolve('tsx/esm/api'))).replace(/\.cjs$/, '.mjs');
  const begin = `import('${tsx}').then(({ register }) => { register(); return import('${file}'); })`;
  return new Worker(begin, { ...options, eval: true });
}
