/** The thread beside a hub's log: long reads and checkpoints, each on a connection of its own, one after the other. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { openDatabase } from '../../base/sqlite.ts';
import type { LogPage } from '../storage.ts';
import { type Parcel, toParcel } from './parcel.ts';
import { type LongReads, longReads } from './reads.ts';
import { ThreadState } from './thread-state.ts';

/** What the thread is asked. */
export type Question = { readonly number: number } & (
  | {
      readonly [Name in keyof LongReads]: { readonly name: Name; readonly values: Parameters<LongReads[Name]> };
    }[keyof LongReads]
  | { readonly name: 'checkpoint'; readonly values: readonly [mode: 'PASSIVE' | 'TRUNCATE'] }
);

/** What it answers; messages travel apart from what else there is to say. */
export interface Answer {
  readonly number: number;
  readonly error?: string;
  readonly value?: unknown;
  readonly messages?: Parcel;
}

const port = parentPort as MessagePort;
const { path, shared } = workerData as { path: string; shared: Int32Array };
const state = new ThreadState(shared);
const reading = await openDatabase(path, { readOnly: true });
const writing = await openDatabase(path);
const reads = longReads(reading);
// What a checkpoint copies must be on disk before the log of it is overwritten, whatever the durability of a commit.
writing.exec('PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 0');
state.rest();

function answerOf(question: Question): Omit<Answer, 'number'> {
  switch (question.name) {
    case 'tail':
      return answerWith(reads.tail(...question.values));
    case 'pageBack':
      return answerWith(reads.pageBack(...question.values));
    case 'deadLetters': {
      const letters = reads.deadLetters(...question.values);
      return {
        value: letters.map(({ message, ...rest }) => rest),
        messages: toParcel(letters.map(({ message }) => message)),
      };
    }
    case 'recentIds':
      return { value: reads.recentIds(...question.values) };
    case 'tasks':
      return { value: reads.tasks(...question.values) };
    case 'checkpoint': {
      const row = writing.prepare(`PRAGMA wal_checkpoint(${question.values[0]})`).get() as Record<string, number>;
      return { value: row.busy === 0 && row.log === row.checkpointed };
    }
    default:
      return question satisfies never;
  }
}

function answerWith({ messages, ...rest }: LogPage): Omit<Answer, 'number'> {
  return { value: rest, messages: toParcel(messages) };
}

function close(): void {
  reading.close();
  writing.close();
  port.close();
}

function reply(question: Question): void {
  let answer: Omit<Answer, 'number'>;
  try {
    answer = answerOf(question);
  } catch (error) {
    answer = { error: messageOf(error) };
  }
  port.postMessage(
    { number: question.number, ...answer },
    answer.messages === undefined ? [] : [answer.messages.bodies],
  );
}

port.on('message', (question: Question | 'close') => {
  if (question === 'close') state.work(['leaving'], close);
  else state.work(['closing', 'leaving'], () => reply(question));
});
