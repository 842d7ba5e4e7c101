import { messageOf } from '../../base/errors.ts';
import type { StoredMessage } from '../storage.ts';

/** Whether an error says that what lies in the file is not what was written: no JSON any more, or no page of a database. */
export function isRot(error: unknown): boolean {
  // The package that stands in for `node:sqlite` tells no code here.
  return error instanceof SyntaxError || /malformed|corrupt/i.test(messageOf(error));
}

/** What stands for a message whose bytes cannot be read any more: a word of the hub at its position. */
export function standIn(lsn: number, ts: number, box: string | null): StoredMessage {
  const head = { type: 'error', from: 'hub', to: box ?? 'hub', task_id: '' } as const;
  const message = `the message at position ${lsn} of the log cannot be read any more: its bytes are damaged`;
  const id = `damaged-${lsn}`;
  const body = Buffer.from(JSON.stringify({ ...head, payload: { code: 'internal', message, retryable: false }, id }));
  const { type, from, to } = head;
  return { lsn, ts, type, from, to, box, taskId: '', id, attempt: null, body, damaged: true };
}

/** Of a log whose newest messages are rotten nothing is taken up; throws for one. */
export function mustBeSound({ lsn, damaged }: StoredMessage): void {
  if (damaged) throw new SyntaxError(`the message at position ${lsn} is damaged`);
}
