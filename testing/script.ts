import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { AppError, messageOf } from '../base/errors.ts';

/** Something that goes wrong with an answer; docs/model-scripts.md describes each. */
export const Fault = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('status'),
    status: z.int().min(400).max(599),
    retry_after: z.union([z.string(), z.number()]).optional(),
    /** Further headers, such as other forms of asking to wait. */
    headers: z.record(z.string(), z.string()).optional(),
    message: z.string().optional(),
    code: z.string().optional(),
    times: times(),
  }),
  /** The stream stays open and says nothing more after this many events. */
  z.strictObject({ type: z.literal('stall'), after: z.int().nonnegative().default(1), times: times() }),
  /** The connection breaks after this many events. */
  z.strictObject({ type: z.literal('cut'), after: z.int().nonnegative().default(1), times: times() }),
  /** The same by a reset, as from a crashed server or a firewall. */
  z.strictObject({ type: z.literal('reset'), after: z.int().nonnegative().default(1), times: times() }),
  /** After this many events nothing but keep-alive comments comes, one each `ms`. */
  z.strictObject({
    type: z.literal('comments'),
    after: z.int().nonnegative().default(1),
    ms: z.int().positive().default(1000),
    times: times(),
  }),
  /** The stream in pieces of so many bytes, with `ms` between them. */
  z.strictObject({
    type: z.literal('drip'),
    bytes: z.int().positive().default(1),
    ms: z.int().nonnegative().default(10),
    times: times(),
  }),
  /** The stream compressed, each event flushed by itself; `cut` breaks it off in the middle. */
  z.strictObject({ type: z.literal('gzip'), cut: z.boolean().default(false), times: times() }),
  /** A first event with a field of this many bytes, in one line. */
  z.strictObject({ type: z.literal('huge_line'), bytes: z.int().positive().default(5_000_000), times: times() }),
  /** The text over and over until it is this long. */
  z.strictObject({ type: z.literal('big_reply'), bytes: z.int().positive().default(10_000_000), times: times() }),
  /** The stream under another content type. */
  z.strictObject({ type: z.literal('content_type'), value: z.string().default('text/html'), times: times() }),
  /** Status 200, and an error object instead of the stream. */
  z.strictObject({
    type: z.literal('error_body'),
    message: z.string().default('upstream broke'),
    code: z.string().optional(),
    times: times(),
  }),
  /** The last call's arguments end in the middle, with finish `length`. */
  z.strictObject({ type: z.literal('cut_arguments'), times: times() }),
  z.strictObject({ type: z.literal('empty'), times: times() }),
  /** An error told as the answer's text. */
  z.strictObject({
    type: z.literal('error_text'),
    message: z.string().default('Error: upstream request failed with status 500 (Internal Server Error)'),
    times: times(),
  }),
  /** An error object inside a stream that began well. */
  z.strictObject({ type: z.literal('error_event'), message: z.string().default('upstream broke'), times: times() }),
  z.strictObject({ type: z.literal('html'), times: times() }),
]);
export type Fault = z.infer<typeof Fault>;

/** How many requests for the step meet the fault; after that the step is played as written. */
function times() {
  return z.union([z.int().positive(), z.literal('always')]).default(1);
}

const Call = z.strictObject({
  name: z.string().min(1),
  arguments: z.record(z.string(), z.unknown()).default({}),
  id: z.string().optional(),
});

const StepObject = z.strictObject({
  text: z.string().default(''),
  thinking: z.string().default(''),
  calls: z.array(Call).default([]),
  /** Wait before the first event, and between two events. ms. */
  delay_ms: z.int().nonnegative().default(0),
  pace_ms: z.int().nonnegative().default(0),
  finish: z.string().optional(),
  usage: z
    .strictObject({
      input: z.int().nonnegative(),
      output: z.int().nonnegative(),
      cached: z.int().nonnegative().default(0),
      thinking: z.int().nonnegative().default(0),
    })
    .nullable()
    .optional(),
  fault: Fault.optional(),
});

/** One reply; a string is a reply of just this text. */
export const Step = z.union([z.string().transform((text) => StepObject.parse({ text })), StepObject]);
export type Step = z.infer<typeof Step>;

/** What each role's model answers, reply by reply. */
export const Script = z.record(z.string().min(1), z.array(Step));
export type Script = z.infer<typeof Script>;
/** A script as it is written, with everything optional that has a default. */
export type ScriptSource = z.input<typeof Script>;

/** Reads a script file. Throws AppError `not_found` or `misconfigured`, naming the place that is wrong. */
export async function readScript(path: string): Promise<Script> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const what = absent ? 'there is no such file' : `it is no JSON (${messageOf(error)})`;
    throw new AppError(absent ? 'not_found' : 'misconfigured', `script ${path}: ${what}`, { cause: error });
  }
  return parseScript(json, path);
}

/** Checks a script; `name` is for the message. */
export function parseScript(source: unknown, name = 'script'): Script {
  const parsed = Script.safeParse(source);
  if (parsed.success) return parsed.data;
  throw new AppError('misconfigured', `script ${name}: ${z.prettifyError(parsed.error)}`);
}

/** The step that `role` plays as its `index`-th reply, or why there is none. */
export function stepOf(script: Script, role: string, index: number): Step | { readonly missing: string } {
  const steps = script[role];
  if (!steps) {
    const roles = Object.keys(script).join(', ') || 'none';
    return { missing: `the script has no role "${role}" (step ${index} was asked for); its roles are: ${roles}` };
  }
  return (
    steps[index] ?? {
      missing: `the script has no step ${index} for the role "${role}"; it has ${steps.length}, counted from 0`,
    }
  );
}
