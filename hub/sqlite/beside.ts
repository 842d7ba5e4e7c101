import type { Worker } from 'node:worker_threads';
import { AppError, messageOf } from '../../base/errors.ts';
import { beforeExit, startThread } from '../../base/thread.ts';
import type { DeadLetter, LogPage, StoredMessage, TaskRecord } from '../storage.ts';
import type { Answer, Question } from './log-thread.ts';
import { fromParcel } from './parcel.ts';
import type { LongReads } from './reads.ts';
import type { Recalled } from './stored-log.ts';
import { ThreadState } from './thread-state.ts';

type Asked<Name> = Extract<Question, { name: Name }>['values'];

interface Outstanding {
  readonly question: Question;
  /** Threads that died of it, as far as is known. */
  deaths: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Threads that one question may cost. */
const DEATHS = 2;

/** How long a process that ends waits for the thread to come out of a call into SQLite, ms. */
const LEAVE_MS = 5000;

/**
 * The thread beside the log, from the hub's side. It is started at the first question and answers in order. When it dies,
 * another one takes over what was asked; a question that two threads died of is refused.
 */
export class Beside {
  readonly #path: string;
  readonly #startThread: (path: string, shared: Int32Array) => Worker;
  readonly #outstanding = new Map<number, Outstanding>();
  readonly #state = new ThreadState();
  #worker: Worker | undefined;
  #number = 0;
  #closed = false;

  constructor(path: string, start: (path: string, shared: Int32Array) => Worker = startLogThread) {
    this.#path = path;
    this.#startThread = start;
  }

  async tail(...values: Parameters<LongReads['tail']>): Promise<LogPage> {
    return pageOf(await this.#ask('tail', values));
  }

  async pageBack(...values: Parameters<LongReads['pageBack']>): Promise<LogPage> {
    return pageOf(await this.#ask('pageBack', values));
  }

  async deadLetters(...values: Parameters<LongReads['deadLetters']>): Promise<readonly DeadLetter[]> {
    const { value, messages } = await this.#ask('deadLetters', values);
    const letters = value as Omit<DeadLetter, 'message'>[];
    return unpacked(messages).map((message, index) => ({
      ...(letters[index] as Omit<DeadLetter, 'message'>),
      message,
    }));
  }

  async recentIds(...values: Parameters<LongReads['recentIds']>): Promise<readonly Recalled[]> {
    return (await this.#ask('recentIds', values)).value as Recalled[];
  }

  async tasks(...values: Parameters<LongReads['tasks']>): Promise<readonly TaskRecord[]> {
    return (await this.#ask('tasks', values)).value as TaskRecord[];
  }

  /** Copies the write-ahead log into the database; true when all of it is copied. */
  async checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): Promise<boolean> {
    return (await this.#ask('checkpoint', [mode])).value as boolean;
  }

  /** Waits for what the thread is at: to end it in the middle of a call into SQLite would end the process on Node 20. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#outstanding.values()) reject(new AppError('cancelled', 'the log is closed'));
    this.#outstanding.clear();
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#worker = undefined;
    worker.ref();
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    this.#state.phase = 'closing';
    worker.postMessage('close');
    await ended;
  }

  #ask<Name extends Question['name']>(name: Name, values: Asked<Name>): Promise<Answer> {
    this.#number += 1;
    const question = { number: this.#number, name, values } as Question;
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new AppError('cancelled', 'the log is closed'));
        return;
      }
      this.#outstanding.set(question.number, { question, deaths: 0, resolve, reject });
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage(question);
    });
  }

  #start(): Worker {
    this.#state.begin();
    const worker = this.#startThread(this.#path, this.#state.shared);
    const forget = beforeExit(() => this.#state.leave(LEAVE_MS));
    let reason: unknown;
    worker.on('message', (answer: Answer) => this.#take(answer));
    worker.on('error', (error) => {
      reason = error;
    });
    worker.on('exit', () => {
      forget();
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#replace(reason);
    });
    return worker;
  }

  #take(answer: Answer): void {
    const asked = this.#outstanding.get(answer.number);
    this.#outstanding.delete(answer.number);
    if (this.#outstanding.size === 0) this.#worker?.unref();
    if (answer.error === undefined) asked?.resolve(answer);
    else asked?.reject(new AppError('internal', `the log cannot be read: ${answer.error}`));
  }

  /** The question it was at when it died is the oldest one. */
  #replace(reason: unknown): void {
    const [first] = this.#outstanding.values();
    if (first === undefined) return;
    first.deaths += 1;
    if (first.deaths >= DEATHS) {
      this.#outstanding.delete(first.question.number);
      first.reject(new AppError('internal', `the thread that reads the log died: ${messageOf(reason)}`));
    }
    if (this.#outstanding.size === 0) return;
    this.#worker = this.#start();
    for (const { question } of this.#outstanding.values()) this.#worker.postMessage(question);
  }
}

/** Starts the thread; `shared` is that of a {@link ThreadState}. */
export function startLogThread(path: string, shared: Int32Array): Worker {
  return startThread(import.meta.url, './log-thread', { path, shared });
}

function pageOf({ value, messages }: Answer): LogPage {
  return { ...(value as Omit<LogPage, 'messages'>), messages: unpacked(messages) };
}

function unpacked(parcel: Answer['messages']): StoredMessage[] {
  return parcel === undefined ? [] : fromParcel(parcel);
}
