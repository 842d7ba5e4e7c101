import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { HubClient } from '../../hub-client/index.ts';
import type { FrameOf, TaskResultPayload } from '../../protocol/index.ts';
import { Exit } from '../exit-code.ts';
import { print, say } from '../print.ts';
import { aborted, abortOnSignal } from '../signals.ts';
import { asPerson, type Person, type Speaker } from './rule-task.ts';

export interface GiveOptions extends Speaker {
  readonly id?: string;
  /** Work tree of the task. */
  readonly tree?: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

/** How a task ended; without a result where nobody made one. */
type Ending = { readonly result: TaskResultPayload } | { readonly state: string; readonly reason: string };

/** Gives a task to a name or a `role:ROLE`, and with `wait` stays for its result; returns the exit code. */
export function giveTask(to: string, goal: string, options: GiveOptions): Promise<number> {
  const { id = `t-${randomBytes(3).toString('hex')}`, tree, wait, json, ...speaker } = options;
  return asPerson(speaker, async (person) => {
    const { client, place } = person;
    const isAbsent = await mustBeTarget(client, to);
    const ended = wait ? watchTask(person, id) : undefined;
    // A task that is refused does not go on anywhere.
    ended?.catch(() => undefined);
    const payload = { goal, ...(tree !== undefined && { options: { tree: resolve(tree) } }) };
    await client.send({ type: 'task.assign', to, task_id: id, payload });
    say(`npc-crew: task ${id} of ${client.name} is for ${to}`);
    if (!ended) {
      if (isAbsent) say(`npc-crew: nobody is here for ${to} yet; it waits`);
      await print(json ? JSON.stringify({ task_id: id, owner: client.name, to }) : id);
      for (const line of [
        `look at it:   npc-crew tasks ${id} ${place.named}`,
        `end it:       npc-crew tasks cancel ${id} ${place.named}`,
      ])
        say(line);
      return Exit.ok;
    }
    const signal = abortOnSignal();
    const ending = await Promise.race([ended, aborted(signal).then(() => undefined)]);
    if (!ending) {
      throw new AppError('cancelled', `task ${id} goes on; end it with npc-crew tasks cancel ${id} ${place.named}`);
    }
    await print(json ? JSON.stringify({ task_id: id, owner: client.name, ...ending }) : wordsOf(ending));
    return 'result' in ending && ending.result.status === 'success' ? Exit.ok : Exit.red;
  });
}

/** Resolves when the task is over; what happens meanwhile is told. */
function watchTask({ client, place }: Person, id: string): Promise<Ending> {
  return new Promise((done, fail) => {
    client.on('task.result', ({ task_id, payload }) => {
      if (task_id === id) done({ result: payload });
    });
    client.on('task.input', ({ task_id, from, payload }) => {
      if (task_id !== id) return;
      say(`npc-crew: ${from} asks: ${payload.question}`);
      say(`answer it:    npc-crew tasks answer ${id} '…' ${place.named}`);
    });
    client.on('task.status', ({ task_id, payload }: FrameOf<'task.status'>) => {
      if (task_id !== id) return;
      const { state, sub_state, reason } = payload;
      say(`npc-crew: ${id} is ${sub_state}: ${reason}`);
      if (state === 'done' || state === 'failed') done({ state: sub_state, reason });
    });
    client.onState((state) => {
      if (state === 'closed') fail(new AppError('disconnected', `the hub is gone; ${id} may go on there`));
    });
  });
}

function wordsOf(ending: Ending): string {
  if (!('result' in ending)) return `${ending.state}: ${ending.reason}`;
  const { status, summary, issues = [] } = ending.result;
  const told = issues.map(({ severity, message, path }) => `${severity}: ${message}${path ? ` (${path})` : ''}`);
  return [`${status}: ${summary}`, ...told].join('\n');
}

/** A bare word that is only known as a role was meant as one; returns whether nobody is connected who could take it. */
async function mustBeTarget(client: HubClient, to: string): Promise<boolean> {
  const agents = await client.agents();
  if (to.startsWith('role:')) return !agents.some(({ roles }) => roles.includes(to.slice(5)));
  const isRole = agents.some(({ roles }) => roles.includes(to));
  if (isRole && !agents.some(({ name }) => name === to)) {
    throw new AppError('usage', `nobody on the hub is called ${to}, but some have that role: name role:${to}`);
  }
  return !agents.some(({ name }) => name === to);
}
