import { ModelError } from '../../core/model.ts';
import type { AssemblerOptions } from '../reader/delta-assembler.ts';
import { ReplyReader } from '../reader/reply-reader.ts';
import type { Reply } from '../reply.ts';

/** What a body says to the reader of the gateway. */
export interface Said {
  /** Absent when it is no whole reply. */
  readonly reply?: Reply;
  /** Why it is none. */
  readonly error?: ModelError;
  /** What was shown while it came, joined. */
  readonly thinking: string;
  readonly text: string;
  /** All that came, in the order in which it came, calls after everything else. */
  readonly received: string;
}

/** Reads a body as the gateway does. */
export function saidIn(body: string, options: Omit<AssemblerOptions, 'onDelta'>): Said {
  const shown = { thinking: [] as string[], text: [] as string[] };
  const reader = new ReplyReader({
    ...options,
    onDelta: (delta) => {
      if (delta.kind !== 'alive') shown[delta.kind].push(delta.text);
    },
  });
  let end: Pick<Said, 'reply' | 'error'>;
  try {
    reader.push(new TextEncoder().encode(body));
    end = { reply: reader.end() };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    end = { error };
  }
  return { ...end, thinking: shown.thinking.join(''), text: shown.text.join(''), received: reader.received() };
}
