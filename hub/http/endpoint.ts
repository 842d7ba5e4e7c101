import type { ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Refusal } from '../refusal.ts';
import type { Scope } from '../tokens.ts';
import type { HubState, HubView } from '../view.ts';

/** What a request asks of an endpoint, read and checked. */
export interface Ask<Query> {
  readonly query: Query;
  /** Value of the path's `:id`; empty when it has none. */
  readonly id: string;
  readonly view: HubView;
  readonly response: ServerResponse;
  /** Only the head is wanted. */
  readonly headOnly: boolean;
  /** Ends when the client has gone, or has all. */
  readonly signal: AbortSignal;
}

type Answer = Promise<Refusal | undefined> | Refusal | undefined;

/** One thing that can be asked of the hub by HTTP. `HEAD` works where `GET` does. */
export interface Endpoint<Query = never> {
  readonly method: 'GET' | 'DELETE';
  /** `:id` stands for one piece between slashes. */
  readonly path: string;
  /** Whether a token must allow this. */
  readonly scope: Scope;
  /** One line for people. */
  readonly help: string;
  readonly query: z.ZodType<Query>;
  /** Answers, or says why not; what is thrown becomes a 500. */
  readonly answer: (ask: Ask<Query>) => Answer;
}

/** What can be asked without a token and before the hub is ready. */
export interface OpenEndpoint {
  readonly method: 'GET';
  readonly path: string;
  readonly help: string;
  readonly answer: (response: ServerResponse, state: HubState) => undefined;
}

/** Lets the compiler see what the query of an endpoint is. */
export function endpoint<Query>(parts: Endpoint<Query>): Endpoint {
  return parts as unknown as Endpoint;
}
