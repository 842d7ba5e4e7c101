import { type Cassette, requestOf } from './cassette-file.ts';
import { type Difference, differenceOf } from './difference.ts';
import type { Exchange, Place } from './format.ts';
import { NormalForm } from './normal-form.ts';
import { hashOf, inKey, type TakenRequest } from './request.ts';

/** Where a request comes from: its place without the try, which the shelf counts, and without what differs from run to run. */
export type Asker = Pick<Place, 'role' | 'task' | 'turn' | 'attempt'>;

/** A recorded exchange for a request, and where the request is another than the recorded one. */
interface Found {
  readonly exchange: Exchange;
  readonly difference?: Difference;
}

/** The exchanges of a cassette that were not played yet, found by place and by what is asked. */
export class Shelf {
  readonly #cassette: Cassette;
  readonly #recordedForm: NormalForm;
  readonly #form: NormalForm;
  readonly #left = new Set<Exchange>();
  readonly #byPlace = new Map<string, Exchange[]>();
  readonly #keys = new Map<Exchange, string>();
  /** Normal forms of parts, which many requests share. */
  readonly #normal = new Map<string, unknown>();
  readonly #normalHashes = new Map<string, string>();
  /** Which attempt was answered by it. */
  readonly #played = new Map<Exchange, number>();

  /** `names`: what this run calls things that have another name in each run. */
  constructor(cassette: Cassette, names: Readonly<Record<string, string>>) {
    this.#cassette = cassette;
    this.#recordedForm = new NormalForm(cassette.header.names);
    this.#form = new NormalForm(names);
    for (const exchange of cassette.exchanges) {
      this.#left.add(exchange);
      const place = placeOf(exchange.place);
      this.#byPlace.set(place, [...(this.#byPlace.get(place) ?? []), exchange]);
    }
  }

  get size(): number {
    return this.#cassette.exchanges.length;
  }

  /** How many were not played. */
  get left(): number {
    return this.#left.size;
  }

  /**
   * Takes what was recorded for a request: at its place the one that asked the same, else the next there, else one that asked the same
   * elsewhere, else, for a later attempt, the one that an earlier attempt had from the same question.
   */
  take(asker: Asker, request: TakenRequest): Found | undefined {
    const now = this.#form.value(request) as TakenRequest;
    const key = keyOf(now, now.messages.map(hashOf));
    const there = this.#byPlace.get(placeOf(asker)) ?? [];
    const unplayed = there.filter((one) => this.#left.has(one));
    const same = (one: Exchange) => this.#keyOf(one) === key;
    const exact = unplayed.find(same);
    if (exact) return this.#play(exact, asker);
    const next = unplayed[0];
    if (next) {
      const difference = differenceOf(this.#normalOf(next), now);
      return { ...this.#play(next, asker), ...(difference && { difference }) };
    }
    const elsewhere = [...this.#left].find(same);
    if (elsewhere) return this.#play(elsewhere, asker);
    const again = there.findLast((one) => same(one) && (this.#played.get(one) ?? asker.attempt) < asker.attempt);
    return again && this.#play(again, asker);
  }

  /** Takes what was recorded for a request of which at most the role is known: one that asked the same, else the role's next. */
  takeNext(request: TakenRequest, role?: string): Exchange | undefined {
    const now = this.#form.value(request) as TakenRequest;
    const key = keyOf(now, now.messages.map(hashOf));
    const unplayed = [...this.#left];
    const same = (one: Exchange) => this.#keyOf(one) === key;
    const own = role === undefined ? unplayed : unplayed.filter(({ place }) => place.role === role);
    const found = own.find(same) ?? own[0] ?? unplayed.find(same);
    if (found) this.#left.delete(found);
    return found;
  }

  #play(exchange: Exchange, { attempt }: Asker): Found {
    this.#left.delete(exchange);
    this.#played.set(exchange, attempt);
    return { exchange };
  }

  #keyOf(exchange: Exchange): string {
    const known = this.#keys.get(exchange);
    if (known !== undefined) return known;
    const normal = this.#normalOf(exchange);
    const key = keyOf(
      normal,
      exchange.parts.map((hash, at) => {
        const normalHash = this.#normalHashes.get(hash) ?? hashOf(normal.messages[at]);
        this.#normalHashes.set(hash, normalHash);
        return normalHash;
      }),
    );
    this.#keys.set(exchange, key);
    return key;
  }

  #normalOf(exchange: Exchange): TakenRequest {
    const values = new Map(
      [exchange.params, ...exchange.parts, ...(exchange.tools ? [exchange.tools] : [])].map((hash) => {
        if (!this.#normal.has(hash)) this.#normal.set(hash, this.#recordedForm.value(this.#cassette.parts.get(hash)));
        return [hash, this.#normal.get(hash)] as const;
      }),
    );
    return requestOf(exchange, values);
  }
}

function keyOf({ model, params, tools }: TakenRequest, parts: readonly string[]): string {
  return hashOf({ model, parts, params: inKey(params), tools: tools ?? null });
}

function placeOf({ role, task, turn }: Asker): string {
  return [role, task, turn].join('\n');
}
