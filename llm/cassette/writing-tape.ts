import type { Masker } from '../../base/mask.ts';
import type { Carrier } from '../upstream/proxy.ts';
import type { CassetteWriter } from './cassette-writer.ts';
import type { ReplyMasker } from './reply-masker.ts';
import { type Tape, type TapedRequest, tapedIn } from './tape.ts';

/** How a request was sent. */
export type Sent = Parameters<typeof fetch>;

/** A tape that writes what passes into a file. What is no model call passes as it is. */
export abstract class WritingTape implements Tape {
  readonly replays = false;
  protected readonly writer: CassetteWriter;
  protected readonly replies: ReplyMasker;
  protected readonly masker: Masker;
  readonly #began = performance.now();

  constructor(writer: CassetteWriter, replies: ReplyMasker) {
    this.writer = writer;
    this.replies = replies;
    this.masker = replies.masker;
  }

  carry(carrier: Carrier, host: string): Carrier {
    return {
      fetch: async (...sent) => {
        const asked = tapedIn(sent[1]);
        return await (asked ? this.pass(asked, sent, carrier, host) : carrier.fetch(...sent));
      },
      close: () => carrier.close(),
    };
  }

  async close(): Promise<void> {
    await this.replies.close();
    await this.writer.close();
  }

  /** ms since the tape was opened. */
  protected get age(): number {
    return Math.round(performance.now() - this.#began);
  }

  /** Answers a model call, and keeps what is to be kept of it. */
  protected abstract pass(asked: TapedRequest, sent: Sent, carrier: Carrier, host: string): Promise<Response>;
}
