import type { Children } from '../children.ts';
import type { ClientHandlers, Read } from './client-process.ts';
import { type ClientName, clients } from './clients.ts';
import type { ServerHandlers } from './server-process.ts';
import { type Cut, cuts, streamName, type Work, works } from './streams.ts';

/** One reply, read once by one client. */
export interface OverheadCell extends Read {
  readonly work: Work;
  readonly cut: Cut;
  readonly client: ClientName;
  readonly repetition: number;
  readonly deltas: number;
}

/** Replies that each client reads before, for each kind: what is compiled late is compiled then. */
const WARM_UP = 3;

/** Reads the same replies by all clients, one after the other in each repetition. */
export async function benchOverhead(
  children: Children,
  { repetitions, deltas }: { repetitions: number; deltas: number },
  say: (line: string) => void,
): Promise<OverheadCell[]> {
  const server = await children.start<ServerHandlers>('llm/server-process', null, { core: 0 });
  const baseURL = `http://127.0.0.1:${await server.ask('port')}/v1`;
  const cells: OverheadCell[] = [];
  for (const work of works) {
    for (const cut of cuts) {
      const stream = streamName(work, cut, deltas);
      const readers = await Promise.all(
        clients.map(async (name) => {
          const child = await children.start<ClientHandlers>('llm/client-process', { name, baseURL }, { core: 1 });
          return { name, child };
        }),
      );
      for (const { child } of readers) for (let round = 0; round < WARM_UP; round += 1) await child.ask('read', stream);
      for (let repetition = 1; repetition <= repetitions; repetition += 1) {
        for (const { name, child } of readers) {
          const { characters, ...read } = await child.ask('read', stream);
          if (characters < deltas) throw new Error(`${name} read ${characters} characters of ${deltas} deltas`);
          cells.push({ work, cut, client: name, repetition, deltas, ...read });
        }
      }
      say(`${work}, ${cut}: ${repetitions} repetitions`);
      for (const { child } of readers) await child.end();
    }
  }
  await server.end();
  return cells;
}

/** CPU per delta of a client by that of the bare SDK in the same repetition. */
export function toSdk(cells: readonly OverheadCell[], wanted: Pick<OverheadCell, 'work' | 'cut' | 'client'>): number[] {
  const same = cells.filter(({ work, cut }) => work === wanted.work && cut === wanted.cut);
  return same.flatMap((cell) => {
    if (cell.client !== wanted.client) return [];
    const other = same.find(({ client, repetition }) => client === 'sdk' && repetition === cell.repetition);
    return other === undefined ? [] : [cell.cpu / other.cpu];
  });
}
