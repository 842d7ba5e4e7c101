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

const waits = new Set<() => void>();

/**
 * Has `wait` called when this process ends, however that comes about, before its threads are ended; it may block. Returns how to
 * take that back.
 */
export function beforeExit(wait: () => void): () => void {
  if (waits.size === 0) process.on('exit', waitForAll);
  waits.add(wait);
  return () => {
    waits.delete(wait);
    if (waits.size === 0) process.off('exit', waitForAll);
  };
}

function waitForAll(): void {
  for (const wait of waits) wait();
}
