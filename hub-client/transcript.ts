import { type Envelope, frames, LoopEvent, type Turn } from '../protocol/index.ts';

/**
 * The conversation that a task's log tells: its `turn.added` events in order. A turn whose number is already there
 * replaces it and what followed; what an outdated attempt logged after a newer one had begun is left out.
 */
export async function readTranscript(log: AsyncIterable<Envelope>): Promise<Turn[]> {
  const turns: Turn[] = [];
  let newest = 0;
  for await (const row of log) {
    const frame = frames['task.event'].safeParse(row);
    const event = frame.success ? LoopEvent.safeParse(frame.data.payload.event) : undefined;
    if (!event?.success || event.data.type !== 'turn.added') continue;
    const attempt = row.attempt ?? 1;
    if (attempt < newest) continue;
    newest = attempt;
    turns.length = Math.min(turns.length, event.data.turn);
    turns.push(event.data.content);
  }
  return turns;
}
