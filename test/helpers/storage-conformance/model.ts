import { fits } from '../../../hub/log-filter.ts';
import type {
  Change,
  DeadLetter,
  LogFilter,
  MailboxFacts,
  SessionRecord,
  StoredMessage,
  TaskRecord,
} from '../../../hub/storage.ts';

const over = new Set(['done', 'failed', 'cancelled', 'dead']);

/** A store as simple as can be, to compare with. */
export class ModelStorage {
  messages: StoredMessage[] = [];
  readonly tasks = new Map<string, TaskRecord>();
  readonly sessions = new Map<string, SessionRecord>();
  readonly givenUp = new Set<number>();
  dead = new Map<number, Omit<DeadLetter, 'message'>>();
  last = 0;

  /** Whether a commit goes through; nothing is changed. */
  allows(changes: readonly Change[]): boolean {
    const tasks = new Map(this.tasks);
    return changes.every((change) => {
      if (change.kind !== 'task') return true;
      const { task, expect } = change;
      const now = tasks.get(task.taskId);
      tasks.set(task.taskId, task);
      if (expect === null) return now === undefined;
      return now?.attempt === expect.attempt && now.subState === expect.subState;
    });
  }

  /** Does what a commit did that got these positions. */
  commit(changes: readonly Change[], ts: number, lsns: readonly number[]): void {
    const numbers = [...lsns];
    const before = [...this.messages];
    for (const change of changes) {
      switch (change.kind) {
        case 'message':
          this.last = numbers.shift() ?? 0;
          this.messages.push({ ...change.row, lsn: this.last, ts });
          break;
        case 'task':
          this.tasks.set(change.task.taskId, change.task);
          break;
        case 'session':
          this.sessions.set(change.session.name, change.session);
          break;
        case 'forget_session':
          this.sessions.delete(change.name);
          break;
        case 'cursor': {
          const session = this.sessions.get(change.name);
          if (session !== undefined) this.sessions.set(change.name, { ...session, acked: change.acked });
          break;
        }
        case 'dead':
          for (const { lsn, box } of before) {
            if (box !== change.box || lsn <= change.after || lsn > change.upto || this.dead.has(lsn)) continue;
            this.givenUp.add(lsn);
            this.dead.set(lsn, { lsn, box, reason: change.reason, diedAt: ts });
          }
          break;
        case 'checkpoint':
          // Random use has none.
          break;
        case 'drop_dead':
          for (const lsn of change.lsns) this.dead.delete(lsn);
          break;
        default:
          change satisfies never;
      }
    }
  }

  /** Whether a message must outlive any trimming. */
  keeps({ lsn, box, taskId }: StoredMessage): boolean {
    const task = this.tasks.get(taskId);
    if (this.dead.has(lsn) || (task !== undefined && !over.has(task.subState))) return true;
    return box !== null && (this.sessions.get(box)?.acked ?? lsn) < lsn;
  }

  found(filter: LogFilter, after = 0): StoredMessage[] {
    return this.messages.filter((message) => message.lsn > after && fits(message, filter));
  }

  mail(box: string, after: number): StoredMessage[] {
    return this.messages.filter((message) => message.box === box && message.lsn > after);
  }

  facts(box: string, after: number): MailboxFacts {
    const mail = this.mail(box, after);
    return {
      depth: mail.length,
      bytes: mail.reduce((sum, { body }) => sum + body.length, 0),
      last: mail.at(-1)?.lsn ?? 0,
    };
  }

  letters(after: number): DeadLetter[] {
    const letters = [...this.dead.values()].filter(({ lsn }) => lsn > after).sort((a, b) => a.lsn - b.lsn);
    return letters.map((letter) => ({
      ...letter,
      message: this.messages.find(({ lsn }) => lsn === letter.lsn) as StoredMessage,
    }));
  }
}
