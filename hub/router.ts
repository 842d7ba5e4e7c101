import type { Clock } from '../base/time.ts';
import { CloseCode, type ErrorCode, type FrameOf, parseTarget } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import { errorFrame, hubFrame } from './answers.ts';
import type { Connection } from './connection.ts';
import type { Decoded } from './decode.ts';
import * as inspect from './inspect.ts';
import { logged } from './inspect.ts';
import type { HubLimits } from './options.ts';
import type { Post } from './post.ts';
import type { Recent } from './recent.ts';
import type { Sessions } from './sessions.ts';
import type { Storage } from './storage.ts';
import type { TaskDesk } from './task-desk.ts';
import type { Refused, Sender, TaskFrame, TaskFrames } from './task-frames.ts';
import { may } from './tokens.ts';
import type { Turn } from './turn.ts';
import type { Watchers } from './watchers.ts';

/** What frames are handled with. */
export interface RouterParts {
  readonly turn: Turn;
  readonly post: Post;
  readonly recent: Recent;
  readonly agents: Agents;
  readonly desk: TaskDesk;
  readonly taskFrames: TaskFrames;
  readonly sessions: Sessions;
  readonly watchers: Watchers;
  readonly storage: Storage;
  readonly limits: HubLimits;
  readonly clock: Clock;
  /** Position of the newest committed message. */
  readonly position: () => number;
}

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
      this.#refuse(connection, decoded, 'bad_state', 'hello was said already');
      return undefined;
    }
    const agent = this.#parts.sessions.speaker(connection);
    if (agent === undefined) return this.#turnAway(connection, decoded);
    agent.lastSeen = this.#parts.clock.now();
    return this.#dispatch({ agent, connection }, decoded);
  }

  #dispatch(sender: Sender, decoded: Decoded): Promise<void> | undefined {
    const { connection } = sender;
    const { frame } = decoded;
    const { agents, desk, storage } = this.#parts;
    switch (frame.type) {
      case 'ping':
        connection.send(
          hubFrame('pong', connection.name, frame.payload ?? null, frame.id === undefined ? {} : { ref: frame.id }),
        );
        return undefined;
      case 'pong':
        return undefined;
      case 'ack':
        return this.#ack(sender, decoded, frame);
      case 'who':
        if (this.#maySee(sender, decoded)) inspect.who(connection, frame, agents);
        return undefined;
      case 'tasks':
        if (this.#maySee(sender, decoded)) inspect.tasks(connection, frame, desk);
        return undefined;
      case 'log':
        return this.#maySee(sender, decoded, frame.payload.task_id)
          ? inspect.log(connection, frame, storage)
          : undefined;
      case 'watch':
        if (this.#maySee(sender, decoded)) this.#watch(connection, decoded, frame);
        return undefined;
      case 'bye':
        return this.#bye(connection);
      case 'welcome':
      case 'accepted':
      case 'error':
      case 'event':
      case 'lease':
      case 'task.status':
      case 'hello':
        this.#refuse(connection, decoded, 'bad_frame', `${frame.type} is for the hub to say`);
        return undefined;
      default:
        return this.#lasting(sender, decoded, frame);
    }
  }

  /** What is logged before it has an effect: a message of agents, or a word about a task. */
  #lasting(sender: Sender, decoded: Decoded, frame: FrameOf<'route'> | TaskFrame): Promise<void> | undefined {
    const { agent, connection } = sender;
    const seen = frame.id === undefined ? undefined : this.#parts.recent.find(agent.name, frame.id);
    if (frame.id !== undefined && seen !== undefined) return this.#repeated(sender, decoded, frame.id);
    const refused =
      frame.type === 'route'
        ? this.#route(sender, decoded, frame)
        : this.#parts.taskFrames.handle(sender, decoded, frame);
    if (refused !== undefined) this.#refuse(connection, decoded, refused.code, refused.message);
    connection.owe();
    return undefined;
  }

  #route(sender: Sender, decoded: Decoded, frame: FrameOf<'route'>): Refused | undefined {
    const done = this.#parts.taskFrames.route(sender, decoded, frame);
    if (done !== 'elsewhere') return done;
    const { name } = sender.agent;
    const target = parseTarget(frame.to);
    switch (target?.kind) {
      case 'agent':
        return this.#routeTo(name, decoded, this.#parts.agents.get(target.name));
      case 'role':
        if (target.all) return this.#broadcast(name, decoded, (agent) => agent.roles.includes(target.role));
        return this.#routeToRole(name, decoded, target.role);
      case 'everyone':
        return this.#broadcast(name, decoded, () => true);
      default:
        return { code: 'no_such_agent', message: 'to: an agent, role:R, role:R/* or *' };
    }
  }

  #routeTo(from: string, decoded: Decoded, agent: Agent | undefined): Refused | undefined {
    if (agent === undefined) return { code: 'no_such_agent', message: `nobody here is called ${decoded.frame.to}` };
    const { mailbox } = agent;
    if (agent.connection === undefined && mailbox === undefined)
      return { code: 'offline', message: `${agent.name} is away` };
    const { mailboxMessages, mailboxBytes } = this.#parts.limits;
    if (mailbox !== undefined && (mailbox.depth >= mailboxMessages || mailbox.bytes >= mailboxBytes)) {
      return { code: 'mailbox_full', message: `too much waits for ${agent.name} already` };
    }
    this.#parts.post.relay(from, decoded, { box: agent.name });
    return undefined;
  }

  #routeToRole(from: string, decoded: Decoded, role: string): Refused | undefined {
    const able = this.#parts.agents.connected().filter((agent) => agent.name !== from && agent.roles.includes(role));
    const [agent] = able.sort((a, b) => a.tasks.size - b.tasks.size);
    if (agent === undefined) return { code: 'no_worker', message: `no agent of role ${role} is connected` };
    return this.#routeTo(from, decoded, agent);
  }

  /** To everybody who is there now, at most once: what is broadcast waits for nobody. */
  #broadcast(from: string, decoded: Decoded, wanted: (agent: Agent) => boolean): undefined {
    this.#parts.post.relay(from, decoded, {}, (message) => {
      const text = logged(message);
      for (const agent of this.#parts.agents.connected()) {
        const { connection } = agent;
        if (agent.name === from || !wanted(agent) || connection === undefined) continue;
        if (connection.queued <= this.#parts.limits.softBuffer) connection.send(text);
      }
    });
  }

  #ack(sender: Sender, decoded: Decoded, frame: FrameOf<'ack'>): undefined {
    const { mailbox, name } = sender.agent;
    if (mailbox === undefined || sender.connection.level === 0) {
      this.#refuse(sender.connection, decoded, 'bad_state', 'ack comes after hello');
      return;
    }
    const before = mailbox.acked;
    if ('ids' in frame.payload) mailbox.ackIds(frame.payload.ids);
    else if (!mailbox.ackUpTo(frame.payload.seq)) {
      this.#refuse(sender.connection, decoded, 'bad_state', `${frame.payload.seq} was never sent`);
    }
    if (mailbox.acked > before) this.#parts.turn.change({ kind: 'cursor', name, acked: mailbox.acked });
  }

  #watch(connection: Connection, decoded: Decoded, frame: FrameOf<'watch'>): void {
    const added = this.#parts.watchers.add(connection, frame, this.#parts.position());
    if (!added) this.#refuse(connection, decoded, 'bad_state', 'this connection watches enough already');
    connection.owe();
  }

  #bye(connection: Connection): undefined {
    this.#parts.sessions.left(connection);
    connection.send(hubFrame('bye', connection.name, { reason: 'goodbye' }));
    connection.close(1000, 'goodbye');
  }

  /** A frame whose id was seen: the same again is fine, another one under its id is not. */
  async #repeated(sender: Sender, decoded: Decoded, id: string): Promise<void> {
    const { turn, recent, storage } = this.#parts;
    const { connection, agent } = sender;
    await turn.settled();
    const first = await storage.at(recent.find(agent.name, id) ?? 0);
    if (first !== undefined && isSame(first.body, decoded)) connection.owe(id);
    else {
      this.#refuse(connection, decoded, 'duplicate_id_conflict', 'another frame had this id');
      connection.owe();
    }
  }

  #turnAway(connection: Connection, decoded: Decoded): undefined {
    if (connection.admission.levelOne) {
      this.#refuse(connection, decoded, 'bad_state', 'hello comes first');
      return;
    }
    this.#refuse(connection, decoded, 'name_taken', 'another agent has this name');
    connection.close(CloseCode.unauthorized, 'name taken');
  }

  /** Whoever watches may see everything, others what is about their own task. */
  #maySee(sender: Sender, decoded: Decoded, taskId?: string): boolean {
    const { agent, connection } = sender;
    const task = taskId === undefined ? undefined : this.#parts.desk.find(taskId);
    if (may(agent.grant, 'watch') || task?.owner === agent.name || task?.agent === agent.name) return true;
    this.#refuse(connection, decoded, 'forbidden', 'this token may not look at that');
    return false;
  }

  #refuse(connection: Connection, { frame }: Decoded, code: ErrorCode, message: string): void {
    const { id, type, task_id: taskId } = frame;
    connection.send(errorFrame(connection.name, code, message, { ref: id, refType: type, taskId }));
  }
}

/** Whether a logged frame is the one that came now; what the hub changes in a frame is left out. */
function isSame(body: string, { frame, raw }: Decoded): boolean {
  const first = JSON.parse(body) as Record<string, unknown>;
  const type = first.type === 'stale_result' ? 'task.result' : first.type;
  const same = type === frame.type && first.task_id === frame.task_id;
  return same && JSON.stringify(first.payload) === JSON.stringify(raw.payload ?? null);
}
