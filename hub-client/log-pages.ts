import type { Envelope, FrameOf } from '../protocol/index.ts';

/** Which frames of the log: of one task (`tree`: and of those whose id continues its id after a dot), of one type, after a position. */
export interface LogFilter {
  readonly task_id?: string | undefined;
  readonly tree?: boolean | undefined;
  readonly type?: string | undefined;
  readonly after_lsn?: number | undefined;
}

type Page = FrameOf<'log'>['payload'];

const PAGE_FRAMES = 500;

/** Asks for page after page until the hub says that there is no next one. */
export async function* pageThrough(
  ask: (page: Page) => Promise<Page>,
  { task_id, tree, type, after_lsn }: LogFilter,
): AsyncGenerator<Envelope> {
  const filter = {
    ...(task_id !== undefined && { task_id }),
    ...(tree !== undefined && { tree }),
    ...(type !== undefined && { type }),
    limit: PAGE_FRAMES,
  };
  let after = after_lsn ?? 0;
  for (;;) {
    const page = await ask({ ...filter, after_lsn: after });
    yield* page.frames ?? [];
    if (page.next === undefined || page.next <= after) return;
    after = page.next;
  }
}
