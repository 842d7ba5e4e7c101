import { z } from 'zod';

/** The version that is written, and the only one that is read. */
export const cassetteVersion = 1;

/** What was set when the recording was made, so that a replay needs no settings. It holds no key. */
export const Setup = z.object({
  base_url: z.string(),
  models: z.object({
    default: z.string().optional(),
    flash: z.string().optional(),
    review: z.string().optional(),
    vision: z.string().optional(),
  }),
  fallback_models: z.array(z.string()).default([]),
  fallbacks: z.array(z.object({ base_url: z.string(), model: z.string().optional() })).default([]),
  /** Tokens that the context of the default model was set to hold. */
  window: z.number().optional(),
});
export type Setup = z.infer<typeof Setup>;

/** The first line of a cassette. */
export const Header = z.object({
  cassette: z.literal(cassetteVersion),
  /** ISO time at which the recording began. */
  made: z.string(),
  /** Name and version of the program that made it. */
  program: z.string(),
  /** What the run called things that have another name in each run, such as its folders: texts by what they stand for. */
  names: z.record(z.string(), z.string()).default({}),
  setup: Setup.optional(),
});
export type Header = z.infer<typeof Header>;

/** A message, a list of tools or the parameters of a request, once for all requests that have it. */
export const Part = z.object({ part: z.string(), value: z.unknown() });

/** Who asked: the task by its name within the run, the reply of the task that was wanted, and how often it was asked for. */
export const Place = z.object({
  role: z.string(),
  agent: z.string(),
  task: z.string(),
  attempt: z.int(),
  turn: z.int(),
  try: z.int(),
});
export type Place = z.infer<typeof Place>;

/** Why an answer did not come, or not whole. */
export const Failure = z.object({
  /** Kind of the error, where the gateway itself gave up. */
  kind: z.string().optional(),
  /** Code of the error of the connection. */
  code: z.string().optional(),
  message: z.string(),
  /** What the connection's error gave as its reason. */
  reason: z.string().optional(),
});
export type Failure = z.infer<typeof Failure>;

/** One request and what came back. */
export const Exchange = z.object({
  exchange: z.int(),
  /** ms from the start of the recording. */
  at: z.number(),
  place: Place,
  host: z.string(),
  model: z.string(),
  /** Hash of the parameters, then of the messages and of the list of tools. */
  params: z.string(),
  parts: z.array(z.string()),
  tools: z.string().optional(),
  key: z.string(),
  /** Absent when no answer came. */
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).default({}),
  /** The body as it came: ms since the request, text. */
  chunks: z.array(z.tuple([z.number(), z.string()])),
  /** `left`: the reader needed no more of it; `cut`: the connection broke; `aborted`: it was given up on this side. */
  end: z.enum(['whole', 'left', 'cut', 'aborted']),
  failure: Failure.optional(),
  /** The response cache gave it. */
  cached: z.literal(true).optional(),
  /** Secrets were taken out of the reply. */
  rewritten: z.literal(true).optional(),
});
export type Exchange = z.infer<typeof Exchange>;
