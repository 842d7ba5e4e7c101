import type { Log } from '../../base/log.ts';
import { createMasker, type Masker } from '../../base/mask.ts';
import { cleanBody } from '../upstream/clean-body.ts';
import type { Carrier } from '../upstream/proxy.ts';
import type { Cassette } from './cassette-file.ts';
import type { Difference } from './difference.ts';
import { NotRecorded } from './not-recorded.ts';
import { playedResponse } from './played-response.ts';
import { takeApart } from './request.ts';
import { type Asker, Shelf } from './shelf.ts';
import { type Tape, type TapedRequest, tapedIn } from './tape.ts';
import { TaskNames } from './task-names.ts';
import { type Language, words } from './words.ts';

/** So many differences are told one by one. */
const TOLD = 5;

interface PlayerOptions {
  /** The cassette's name, for messages. */
  readonly path: string;
  /** Texts that have another value in each run, by what they are, as for the recorder. */
  readonly names?: Readonly<Record<string, string>>;
  /** What was masked in the recording is masked before requests are compared. */
  readonly secrets: readonly string[];
  /** Default English. */
  readonly language?: Language;
  readonly log: Log;
  /** Where a request differs from the recorded one, and how it went at the end. */
  onNotice(line: string): void;
}

/** A tape that answers from a recording. */
interface Player extends Tape {
  /** One line for people that says what is played. */
  readonly title: string;
}

/** Answers what was recorded, and asks nobody. */
export function openPlayer(cassette: Cassette, options: PlayerOptions): Player {
  return new CassettePlayer(cassette, options);
}

class CassettePlayer implements Player {
  readonly replays = true;
  readonly title: string;
  readonly #options: PlayerOptions;
  readonly #shelf: Shelf;
  readonly #masker: Masker;
  readonly #tasks: TaskNames;
  #played = 0;
  #different = 0;

  constructor(cassette: Cassette, options: PlayerOptions) {
    const { names = {}, secrets, language = 'en', path } = options;
    this.#options = options;
    this.#shelf = new Shelf(cassette, names);
    this.#masker = createMasker(secrets);
    this.#tasks = new TaskNames(names.run);
    this.title = words[language].plays(path, this.#shelf.size);
    if (cassette.torn) options.onNotice(words[language].torn(path));
  }

  /** The carrier behind it is never used. */
  carry(carrier: Carrier, host: string): Carrier {
    return {
      fetch: async (_url, init) => {
        const asked = tapedIn(init);
        if (!asked)
          throw new NotRecorded(`A replay asks nobody, and nothing was recorded for this request to ${host}.`);
        return await this.#answer(asked);
      },
      close: () => carrier.close(),
    };
  }

  async close(): Promise<void> {
    const { language = 'en', onNotice } = this.#options;
    onNotice(words[language].total({ played: this.#played, left: this.#shelf.left, different: this.#different }));
  }

  async #answer({ body, caller, signal, onCached }: TapedRequest): Promise<Response> {
    const { role, taskId, turn, attempt } = caller;
    const asker = { role, task: this.#tasks.nameOf(role, taskId), turn, attempt };
    const found = this.#shelf.take(asker, takeApart(cleanBody(body, this.#masker.mask)));
    if (!found) throw this.#missing(asker);
    this.#played += 1;
    if (found.exchange.cached) onCached?.();
    if (found.difference) this.#tell(asker, caller.agent, found.difference);
    return await playedResponse(found.exchange, signal);
  }

  #tell(asker: Asker, agent: string, difference: Difference): void {
    const { language = 'en', onNotice, log } = this.#options;
    this.#different += 1;
    log.warn({ ...asker, agent, ...difference }, 'a request differs from the recording');
    if (this.#different <= TOLD) onNotice(words[language].differs({ ...asker, agent }, difference));
    if (this.#different === TOLD + 1) onNotice(words[language].noMore);
  }

  #missing({ role, task, turn }: Asker): NotRecorded {
    const { language = 'en', path } = this.#options;
    const counts = { ...{ role, task, turn, path }, size: this.#shelf.size, left: this.#shelf.left };
    return new NotRecorded(words[language].missing(counts));
  }
}
