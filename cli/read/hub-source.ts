import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { silentLog } from '../../base/log.ts';
import { type Envelope, envelope, TaskRow } from '../../protocol/index.ts';
import { away, connectedAgents, type HubHttp, hubHttp, isReplay } from './hub-http.ts';
import { shellWord } from './shell-word.ts';
import type { FrameRange, Source } from './source.ts';
import { splitLines } from './split-lines.ts';

const Tasks = z.object({ tasks: z.array(TaskRow), next: z.string().optional() });

/** Tasks that are asked for at once. */
const TASKS = 2000;

/** A hub that is up. It is asked by HTTP, which leaves no trace among its agents; only who follows it connects. */
export async function hubSource(
  url: string,
  patienceMs: number,
  { token, tokenFile }: { token?: string | undefined; tokenFile?: string | undefined } = {},
): Promise<Source> {
  const hub = hubHttp(url, token);
  const withToken = tokenFile === undefined ? '' : ` --token-file ${shellWord(tokenFile)}`;
  return {
    named: `--hub ${shellWord(url)}${withToken}`,
    frames: (range) => framesOf(hub, url, range),
    newestFirst: (range) => newestOf(hub, url, range),
    last: async () => Number((await hub.ask('/v1/log', 'HEAD')).headers['hub-lsn'] ?? 0),
    follow: (afterLsn, signal) => follow({ url, token, patienceMs }, afterLsn, signal),
    tasks: () => tasksOf(hub),
    agents: () => connectedAgents(hub),
    hub: async () => ({ url, tokenFile, replay: await isReplay(hub), connected: await connectedAgents(hub) }),
    close: async () => {},
  };
}

async function tasksOf(hub: HubHttp): Promise<TaskRow[]> {
  const rows: TaskRow[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: z.infer<typeof Tasks> = await hub.json(
      Tasks,
      `/v1/tasks?limit=${TASKS}&after=${encodeURIComponent(after)}`,
    );
    rows.push(...page.tasks);
    after = page.next;
  }
  return rows;
}

async function* framesOf(hub: HubHttp, url: string, { taskIds, ...range }: FrameRange = {}): AsyncGenerator<Envelope> {
  for (const taskId of taskIds ?? [undefined]) yield* piecesOf(hub, url, range, taskId);
}

async function* piecesOf(
  hub: HubHttp,
  url: string,
  { uptoLsn = Number.POSITIVE_INFINITY, ...range }: FrameRange,
  taskId: string | undefined,
): AsyncGenerator<Envelope> {
  if (uptoLsn <= (range.afterLsn ?? 0)) return;
  const query = queryOf({ ...range, ...(taskId !== undefined && { taskIds: [taskId] }) });
  for await (const frame of read(hub, url, query)) {
    if ((frame.lsn ?? 0) > uptoLsn) return;
    yield frame;
  }
}

/** From the end of the log in pages, the first of which is small: mostly it is enough. */
async function* newestOf(
  hub: HubHttp,
  url: string,
  { uptoLsn, ...range }: Omit<FrameRange, 'taskIds'>,
): AsyncGenerator<Envelope> {
  const query = queryOf(range);
  if (uptoLsn !== undefined) query.set('before_lsn', String(uptoLsn + 1));
  for (const size of pageSizes()) {
    query.set('last', String(size));
    const page: Envelope[] = [];
    for await (const frame of read(hub, url, query)) page.push(frame);
    yield* page.toReversed();
    if (page.length < size) return;
    query.set('before_lsn', String(page[0]?.lsn));
  }
}

function* pageSizes(): Generator<number> {
  yield 50;
  for (;;) yield 400;
}

function queryOf({ afterLsn = 0, since, tree, taskIds: [taskId] = [], type, agent }: FrameRange): URLSearchParams {
  return new URLSearchParams({
    after_lsn: String(afterLsn),
    ...(since !== undefined && { since: String(since) }),
    ...(tree !== undefined && { task_id: tree, tree: '1' }),
    ...(taskId !== undefined && { task_id: taskId }),
    ...(type !== undefined && { type }),
    ...(agent !== undefined && { agent }),
  });
}

async function* read(hub: HubHttp, url: string, query: URLSearchParams): AsyncGenerator<Envelope> {
  const response = await hub.ask(`/v1/log?${query}`);
  try {
    for await (const { bytes } of splitLines(response)) yield envelope.parse(JSON.parse(bytes.toString()));
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ECONNRESET' ? away(new URL(url), error) : error;
  } finally {
    response.destroy();
  }
}

async function* follow(
  { url, token, patienceMs }: { url: string; token: string | undefined; patienceMs: number },
  afterLsn: number,
  signal: AbortSignal,
): AsyncGenerator<Envelope> {
  const [{ connectHub }, { followHub }] = await Promise.all([
    import('../../hub-client/index.ts'),
    import('./follow-hub.ts'),
  ]);
  const client = await connectHub({
    url: url.replace(/^http/, 'ws'),
    token,
    name: `cli-${process.pid}-${randomBytes(3).toString('hex')}`,
    title: 'somebody who looks',
    log: silentLog(),
    reconnect: { baseMs: 100, capMs: 500, connectMs: 2000, giveUpMs: patienceMs },
  });
  try {
    yield* followHub(client, afterLsn, signal);
  } finally {
    await client.close();
  }
}
