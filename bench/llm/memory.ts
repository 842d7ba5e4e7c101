import type { Children } from '../children.ts';
import type { ClientHandlers } from './client-process.ts';
import type { ClientName } from './clients.ts';
import type { ServerHandlers } from './server-process.ts';
import { streamName } from './streams.ts';

/** What reading one long reply did to a process; memory in bytes. */
export interface MemoryCell {
  readonly client: ClientName;
  /** How the reply came. */
  readonly stream: 'in deltas' | 'in one delta';
  readonly characters: number;
  readonly before: number;
  readonly peak: number;
}

/** Lets a new process of each client read a reply of `bytes`. */
export async function benchMemory(
  children: Children,
  { repetitions, bytes }: { repetitions: number; bytes: number },
  say: (line: string) => void,
): Promise<MemoryCell[]> {
  const server = await children.start<ServerHandlers>('llm/server-process', null, { core: 0 });
  const baseURL = `http://127.0.0.1:${await server.ask('port')}/v1`;
  const cells: MemoryCell[] = [];
  // about three bytes a piece
  const streams = {
    'in deltas': streamName('text', 'gathered', Math.ceil(bytes / 3)),
    'in one delta': `whole-${bytes}`,
  };
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    for (const stream of ['in deltas', 'in one delta'] as const) {
      for (const client of ['sdk', 'client'] as const) {
        const child = await children.start<ClientHandlers>(
          'llm/client-process',
          { name: client, baseURL },
          { core: 1 },
        );
        await child.ask('read', streamName('text', 'gathered', 2_000));
        const { now: before } = await child.ask('memory');
        const { characters } = await child.ask('read', streams[stream]);
        const { peak } = await child.ask('memory');
        cells.push({ client, stream, characters, before, peak });
        await child.end();
      }
    }
    say(`memory: repetition ${repetition + 1}`);
  }
  await server.end();
  return cells;
}
