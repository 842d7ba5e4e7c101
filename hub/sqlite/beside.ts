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
 * How long a thread that is asked nothing stays, ms: it takes 10 MB, and another one is there within a tenth of a second. A
 * little longer than the write-ahead log waits until it is cut.
 */
const REST_MS = 6000;

/** A thread, and what is known of it at once. */
interface Thread {
  readonly worker: Worker;
  readonly state: ThreadState;
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>;
}

/**
 * The thread beside the log, from the hub's side. It is started at the first question, answers in order, and is ended when it has
 * been asked nothing for a while. When it dies, another one takes over what was asked; a question that two threads died of is
 * refused.
 */
export class Beside {
  readonly #path: string;
  readonly #startThread: (path: string, shared: Int32Array) => Worker;
  readonly #restMs: number;
  readonly #outstanding = new Map<number, Outstanding>();
  #thread: Thread | undefined;
  #rest: NodeJS.Timeout | undefined;
  /** The last one that was sent away. */
  #gone: Promise<unknown> | undefined;
  #number = 0;
  #closed = false;

  constructor(path: string, { start = startLogThread, restMs = REST_MS } = {}) {
    this.#path = path;
    this.#startThread = start;
    this.#restMs = restMs;
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
    if (this.#thread !== undefined) this.#thread.state.phase = 'closing';
    this.#sendAway();
    await this.#gone;
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
      clearTimeout(this.#rest);
      this.#thread ??= this.#start();
      this.#thread.worker.ref();
      this.#thread.worker.postMessage(question);
    });
  }

  #start(): Thread {
    const state = new ThreadState();
    state.begin();
    const worker = this.#startThread(this.#path, state.shared);
    const forget = beforeExit(() => state.leave(LEAVE_MS));
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    let reason: unknown;
    worker.on('message', (answer: Answer) => this.#take(answer));
    worker.on('error', (error) => {
      reason = error;
    });
    worker.on('exit', () => {
      forget();
      if (this.#thread?.worker !== worker) return;
      this.#thread = undefined;
      this.#replace(reason);
    });
    return { worker, state, ended };
  }

  #take(answer: Answer): void {
    const asked = this.#outstanding.get(answer.number);
    this.#outstanding.delete(answer.number);
    if (this.#outstanding.size === 0 && !this.#closed) {
      this.#thread?.worker.unref();
      this.#rest = setTimeout(() => this.#sendAway(), this.#restMs).unref();
    }
    if (answer.error === undefined) asked?.resolve(answer);
    else asked?.reject(new AppError('internal', `the log cannot be read: ${answer.error}`));
  }

  /** Has the thread end after what it is at; the next question goes to another one. */
  #sendAway(): void {
    clearTimeout(this.#rest);
    if (this.#thread === undefined) return;
    const { worker, ended } = this.#thread;
    this.#thread = undefined;
    const before = this.#gone;
    this.#gone = ended.then(() => before);
    worker.ref();
    worker.postMessage('close');
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
    this.#thread = this.#start();
    for (const { question } of this.#outstanding.values()) this.#thread.worker.postMessage(question);
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
