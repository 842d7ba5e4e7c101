import { expect, onTestFinished } from 'vitest';
import type { LogFilter, Storage, StoredMessage } from '../../../hub/storage.ts';

/** A store that a test was given. */
export interface OpenedStorage {
  readonly storage: Storage;
  /** Closes it and opens what was written; absent when nothing outlives the store. */
  readonly reopen?: () => Promise<Storage>;
  /** Ends it and takes away what it left. */
  destroy(): Promise<void>;
}

/** Makes an empty store. */
export type Open = () => Promise<OpenedStorage>;

/** A store that is gone after the test. */
export async function opened(open: Open): Promise<OpenedStorage> {
  const store = await open();
  onTestFinished(() => store.destroy());
  return store;
}

/** All that a filter finds, page by page; no page may be larger than it was asked to be. */
export async function allOf(
  storage: Storage,
  filter: LogFilter = {},
  page: { readonly after?: number; readonly limit?: number; readonly maxBytes?: number } = {},
): Promise<StoredMessage[]> {
  const { limit = 100, maxBytes = 1024 * 1024 } = page;
  const found: StoredMessage[] = [];
  let next: number | undefined = page.after ?? 0;
  while (next !== undefined) {
    const { messages, next: further }: { messages: readonly StoredMessage[]; next?: number } = await storage.tail(
      filter,
      next,
      limit,
      maxBytes,
    );
    if (messages.length > limit) throw new Error(`a page of ${messages.length} where ${limit} were asked for`);
    const bytes = messages.reduce((sum, { body }) => sum + body.length, 0);
    if (messages.length > 1 && bytes > maxBytes) throw new Error(`a page of ${bytes} bytes`);
    if (further !== undefined && further <= next) throw new Error('a page that leads nowhere');
    found.push(...messages);
    next = further;
  }
  return found;
}

/** All of a mailbox, by as many looks as it takes. */
export async function mailOf(storage: Storage, box: string, after = 0, limit = 64): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for (;;) {
    const page = await storage.mailbox(box, found.at(-1)?.lsn ?? after, limit);
    if (page.length > limit) throw new Error(`${page.length} messages where ${limit} were asked for`);
    if (page.length === 0) return found;
    found.push(...page);
  }
}

/** Expects the same messages; compared as text, since comparing buffers byte by byte takes minutes. */
export function expectSame(found: readonly StoredMessage[], expected: readonly StoredMessage[]): void {
  const [one, other] = [found.map(tell), expected.map(tell)];
  if (one.length !== other.length || one.some((text, index) => text !== other[index])) expect(one).toEqual(other);
}

function tell({ body, ...rest }: StoredMessage): string {
  const { lsn, ts, type, from, to, box, taskId, id, attempt } = rest;
  return `${lsn} ${ts} ${JSON.stringify([type, from, to, box, taskId, id, attempt])} ${body}`;
}
