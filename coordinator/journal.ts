import type { HubClient } from '../hub-client/index.ts';
import type { Envelope, RunEvent } from '../protocol/index.ts';
import { emptyRecord, foldFrame, type RunRecord } from './record.ts';

/** The coordinator's view of the message log: it writes events there, and its state is what it reads back. */
export interface Journal {
  readonly runKey: string;
  readonly record: RunRecord;
  /** Gates that an earlier process of the run recorded; they are shown, and run again before anything is decided. */
  readonly inheritedGates: number;
  /** Writes one event of the run (or of one of its tasks); resolves when it is committed, and is part of `record` then. */
  write(event: RunEvent, taskId?: string): Promise<void>;
  /** Calls back after each change of the record. */
  onChange(callback: () => void): void;
}

/**
 * Reads what the log holds of this run, and follows what agents and the gateway add. Run events count from `trusted` names only;
 * `onLost` hears when the log cannot be read again after a reconnect.
 */
export async function openJournal(
  client: HubClient,
  runKey: string,
  trusted: readonly string[],
  onLost: (error: unknown) => void,
): Promise<Journal> {
  const record = emptyRecord();
  const listeners: (() => void)[] = [];
  let folded = 0;
  const fold = (frame: Envelope): void => {
    const lsn = frame.lsn ?? folded + 1;
    if (lsn <= folded) return;
    folded = lsn;
    foldFrame(record, frame, trusted);
    for (const listener of listeners) listener();
  };
  const catchUp = async (): Promise<void> => {
    for await (const frame of client.readLog({ task_id: runKey, tree: true, after_lsn: folded })) follow(frame);
  };
  const waiting = new Map<string, () => void>();
  const follow = (frame: Envelope): void => {
    fold(frame);
    waiting.get(frame.id ?? '')?.();
    waiting.delete(frame.id ?? '');
  };
  const ours = (frame: Envelope): boolean => frame.task_id === runKey || frame.task_id.startsWith(`${runKey}.`);
  // Our own events are folded when they come back through the watch, so that one order holds for everybody's.
  client.on('event', ({ payload }) => {
    if (ours(payload.frame)) follow(payload.frame);
  });
  client.onState((state) => {
    if (state === 'connected') void catchUp().catch(onLost);
  });
  await catchUp();
  await client.watch({ after_lsn: folded });

  return {
    runKey,
    record,
    inheritedGates: record.gates.length,
    async write(event, taskId = runKey) {
      const id = `${runKey}-${crypto.randomUUID()}`;
      const seen = new Promise<void>((resolve) => waiting.set(id, resolve));
      await client.send({ type: 'task.event', to: 'hub', task_id: taskId, payload: { event }, id });
      await seen;
    },
    onChange: (callback) => listeners.push(callback),
  };
}
