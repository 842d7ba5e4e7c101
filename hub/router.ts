import type { Clock } from '../base/time.ts';
import type { ErrorCode, FrameOf } from '../protocol/index.ts';
import { errorFrame, hubFrame } from './answers.ts';
import type { Connection } from './connection.ts';
import type { Decoded } from './decode.ts';
import { answerLog, answerTasks, answerWho } from './inspect.ts';
import { type RouteParts, routeMessage } from './message-routes.ts';
import { isRepeat } from './repeats.ts';
import type { Outcome, Said, TaskParts } from './said.ts';
import type { Sessions } from './sessions.ts';
import type { Storage } from './storage.ts';
import { handleTaskFrame, type TaskFrame } from './task-frames.ts';
import { isResultByRoute, routeInTask } from './task-routes.ts';
import { may } from './tokens.ts';
import type { Watchers } from './watchers.ts';
import { staleWords } from './worker-frames.ts';

/** What frames are handled with. */
export interface RouterParts extends TaskParts, RouteParts {
  readonly sessions: Sessions;
  readonly watchers: Watchers;
  readonly storage: Storage;
  readonly clock: Clock;
  /** Position of the newest committed message. */
  readonly position: () => number;
  /** Whether this hub only shows what another one logged. */
  readonly replay: boolean;
}

/** What is logged before it has an effect: a message between agents, or a word about a task. */
type Lasting = 'route' | TaskFrame['type'];

/** Decides by its type what becomes of a frame, and answers its sender. */
export class Router {
  readonly #parts: RouterParts;

  constructor(parts: RouterParts) {
    this.#parts = parts;
  }

  /** Handles one frame; a promise means that the connection's next frame has to wait. */
  handle(connection: Connection, decoded: Decoded): Promise<void> | undefined {
    const { frame } = decoded;
    if (frame.type === 'hello') {
      if (connection.level === 0) return this.#parts.sessions.hello(connection, frame);
      refuse(connection, decoded, 'bad_state', 'hello was said already; say it once a connection');
      return undefined;
    }
    const agent = this.#parts.sessions.speaker(connection);
    if (agent === undefined) return this.#claim(connection, decoded);
    agent.lastSeen = this.#parts.clock.now();
    return this.#dispatch({ agent, connection, decoded, frame });
  }

  /** Whoever speaks level 0 under a name that it was not given at once has to wait for it. */
  async #claim(connection: Connection, decoded: Decoded): Promise<void> {
    const { id, type, task_id: taskId } = decoded.frame;
    if (connection.admission.levelOne)
      refuse(connection, decoded, 'bad_state', 'hello comes first: v=1 in the address says that you speak level 1');
    else if (await this.#parts.sessions.claim(connection, { ref: id, refType: type, taskId })) {
      await this.handle(connection, decoded);
    }
  }

  #dispatch(said: Said): Promise<void> | undefined {
    const { connection, frame, decoded } = said;
    const { agents, storage } = this.#parts;
    switch (frame.type) {
      case 'ping':
        connection.send(pong(connection, frame.payload, frame.id));
        return undefined;
      case 'pong':
        return undefined;
      case 'ack':
        return this.#ack(said as Said<'ack'>);
      case 'who':
        return this.#maySee(said) ? answerWho(connection, frame, agents) : undefined;
      case 'tasks':
        return this.#maySee(said) ? this.#tasks({ ...said, frame }) : undefined;
      case 'log':
        return this.#informed(frame.payload.task_id, () =>
          this.#maySee(said, ownTask(frame)) ? answerLog(connection, frame, storage) : undefined,
        );
      case 'watch':
        if (this.#maySee(said)) this.#watch({ ...said, frame });
        return undefined;
      case 'bye':
        return this.#bye(connection);
      case 'hello':
      case 'welcome':
      case 'accepted':
      case 'error':
      case 'event':
      case 'lease':
      case 'task.status':
        refuse(connection, decoded, 'bad_frame', `type: ${frame.type} is for the hub to say; send none`);
        return undefined;
      default:
        return this.#lasting(said as Said<Lasting>);
    }
  }

  #lasting(said: Said<Lasting>): Promise<void> | undefined {
    const { agent, connection, decoded, frame } = said;
    if (this.#parts.replay) {
      refuse(connection, decoded, 'forbidden', 'this is a replay: it shows what was said and takes nothing new');
      connection.owe();
      return undefined;
    }
    if (frame.id !== undefined && agent.recent.find(frame.id) !== undefined) return this.#repeated(said, frame.id);
    if (frame.type !== 'route') {
      return this.#informed(frame.task_id, () => this.#taskFrame(said as Said<TaskFrame['type']>));
    }
    const route = said as Said<'route'>;
    if (isResultByRoute(route)) return this.#informed(frame.task_id, () => this.#route(route));
    return this.#route(route);
  }

  #taskFrame(said: Said<TaskFrame['type']>): Promise<void> | undefined {
    return this.#answer(said, handleTaskFrame(this.#parts, said));
  }

  /** Says what became of a frame, once that is known. */
  #answer(said: Said, outcome: Outcome): Promise<void> | undefined {
    if (outcome instanceof Promise) return outcome.then((refused) => void this.#answer(said, refused));
    const { connection, decoded } = said;
    if (outcome !== undefined) refuse(connection, decoded, outcome.code, outcome.message);
    connection.owe();
    return undefined;
  }

  /** Handles what is about a task once it is known, in memory, whether there is one. */
  #informed(taskId: string | undefined, handle: () => Promise<void> | undefined): Promise<void> | undefined {
    const { desk } = this.#parts;
    if (taskId === undefined || taskId === '' || desk.table.known(taskId)) return handle();
    return desk.table.recall(taskId).then(handle);
  }

  #route(said: Said<'route'>): Promise<void> | undefined {
    const done = said.frame.task_id === '' ? 'elsewhere' : routeInTask(this.#parts, said);
    return this.#answer(said, done === 'elsewhere' ? routeMessage(this.#parts, said) : done);
  }

  #ack({ agent, connection, decoded, frame }: Said<'ack'>): undefined {
    const { mailbox, name } = agent;
    if (mailbox === undefined || connection.level === 0) {
      refuse(connection, decoded, 'bad_state', 'ack comes after hello; at level 0 nothing is acknowledged');
      return;
    }
    const before = mailbox.acked;
    if ('ids' in frame.payload) mailbox.ackIds(frame.payload.ids);
    else if (!mailbox.ackUpTo(frame.payload.seq)) {
      refuse(
        connection,
        decoded,
        'bad_state',
        `payload.seq: ${frame.payload.seq} was never sent to you; send the seq of a message that you have`,
      );
    }
    if (mailbox.acked > before) this.#parts.turn.change({ kind: 'cursor', name, acked: mailbox.acked });
  }

  async #tasks({ connection, decoded, frame }: Said<'tasks'>): Promise<void> {
    const outcome = await answerTasks(connection, frame, this.#parts);
    if (outcome !== undefined) refuse(connection, decoded, outcome.code, outcome.message);
  }

  #watch({ connection, decoded, frame }: Said<'watch'>): void {
    const added = this.#parts.watchers.add(connection, frame, this.#parts.position());
    if (!added)
      refuse(connection, decoded, 'bad_state', 'this connection watches enough already; open another one for more');
    connection.owe();
  }

  #bye(connection: Connection): undefined {
    this.#parts.sessions.left(connection);
    connection.send(hubFrame('bye', connection.name, { reason: 'goodbye' }));
    connection.close(1000, 'goodbye');
  }

  /** A frame whose id was seen: the same again is fine, another one under its id is not. */
  async #repeated({ agent, connection, decoded }: Said, id: string): Promise<void> {
    const { turn, storage, desk } = this.#parts;
    const { task_id: taskId } = decoded.frame;
    await turn.settled();
    if (taskId !== '' && !desk.table.known(taskId)) await desk.table.recall(taskId);
    const by = { level: connection.level, assigned: desk.table.find(taskId)?.assignId === id };
    const first = await storage.at(agent.recent.find(id) ?? 0);
    // What was trimmed from the log is known by its id alone.
    if (first !== undefined && !isRepeat(first, decoded, by)) {
      refuse(connection, decoded, 'duplicate_id_conflict', 'another frame had this id');
    } else if (first?.type === 'stale_result') {
      // It was refused when it was logged; its sender may not have heard.
      refuse(connection, decoded, 'stale_attempt', staleWords(decoded.frame));
    } else {
      connection.owe(id);
      return;
    }
    connection.owe();
  }

  /** Whoever watches may see everything, others what is about their own task. */
  #maySee({ agent, connection, decoded }: Said, taskId?: string): boolean {
    const task = taskId === undefined ? undefined : this.#parts.desk.table.find(taskId);
    if (may(agent.grant, 'watch') || task?.owner === agent.name || task?.agent === agent.name) return true;
    refuse(connection, decoded, 'forbidden', 'this token may not look at that');
    return false;
  }
}

/** The task that a look into the log is about alone: whose ids continue the one of my task need not be mine. */
function ownTask({ payload: { task_id: taskId, tree } }: FrameOf<'log'>): string | undefined {
  return tree ? undefined : taskId;
}

function pong(connection: Connection, payload: unknown, id: string | undefined): string {
  return hubFrame('pong', connection.name, payload ?? null, id === undefined ? {} : { ref: id });
}

function refuse(connection: Connection, { frame }: Decoded, code: ErrorCode, message: string): void {
  const { id, type, task_id: taskId } = frame;
  connection.send(errorFrame(connection.name, code, message, { ref: id, refType: type, taskId }));
}
