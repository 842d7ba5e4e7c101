import { type Envelope, LoopEvent, RunEvent, spentBy } from '../../protocol/index.ts';

/** Counts the events and signs of life of a task: what an agent did between two things worth a line of their own. */
export class WorkCount {
  /** Calls by tool, and how many of them failed. */
  readonly tools: Record<string, number> = {};
  failed = 0;
  /** Replies of the model, and tokens of them, in and out, as far as they were told. */
  turns = 0;
  tokens = 0;
  /** Signs of life, and the last word with one. */
  progress = 0;
  note = '';
  /** Events of other types. */
  events = 0;
  /** Size of all payloads. */
  bytes = 0;

  take({ type, payload }: Envelope, bytes: number): void {
    this.bytes += bytes;
    const fields = payload as { event?: unknown; note?: unknown } | null;
    if (type === 'task.progress') {
      this.progress += 1;
      if (typeof fields?.note === 'string') this.note = fields.note;
      return;
    }
    const event = LoopEvent.safeParse(fields?.event).data ?? RunEvent.safeParse(fields?.event).data;
    switch (event?.type) {
      case 'turn.added':
        if (event.content.role === 'assistant') this.turns += 1;
        return;
      case 'tool.started':
        this.tools[event.name] = (this.tools[event.name] ?? 0) + 1;
        return;
      case 'tool.finished':
        if (!event.ok) this.failed += 1;
        return;
      case 'usage.recorded':
        {
          const { input, output } = spentBy(event);
          this.tokens += input + output;
        }
        return;
      default:
        this.events += 1;
    }
  }
}
