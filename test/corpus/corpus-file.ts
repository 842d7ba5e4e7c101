import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const Calls = z.array(
  z.object({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    id: z.string().optional(),
    thought_signature: z.string().optional(),
  }),
);
const Types = z.record(z.string(), z.record(z.string(), z.union([z.string(), z.array(z.string())])));

/** A line of a rescue corpus: deltas of one message, and what must come of them. */
export const RescueCase = z.object({
  id: z.string(),
  format: z.string().optional(),
  note: z.string().optional(),
  chunks: z.array(z.string()),
  reasoning_chunks: z.array(z.string()).default([]),
  tools: z.array(z.string()),
  schemas: Types.default({}),
  expect: z.object({
    content: z.string(),
    calls: Calls,
    dropped: z.boolean(),
    reasoning: z.string().optional(),
  }),
});
export type RescueCase = z.infer<typeof RescueCase>;

/** A line of an SSE corpus: a raw body, and the one result it stands for. */
export const SseCase = z.object({
  id: z.string(),
  note: z.string().optional(),
  raw: z.string(),
  split_at: z.array(z.int()).default([]),
  tools: z.array(z.string()).default([]),
  schemas: Types.default({}),
  expect: z.object({
    content: z.string(),
    reasoning: z.string(),
    calls: Calls,
    finish: z.string().nullable(),
    usage: z
      .object({
        prompt_tokens: z.number().nullable(),
        completion_tokens: z.number().nullable(),
        cached_tokens: z.number().nullable(),
      })
      .nullable(),
    error: z.looseObject({ kind: z.string() }).nullable(),
    dropped: z.boolean(),
  }),
});
export type SseCase = z.infer<typeof SseCase>;

/** The cases of a file, with their lines. Throws an Error that names file and line when a line is no case. */
export async function readCases<T>(file: string, schema: z.ZodType<T>): Promise<(T & { line: number })[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.flatMap((text, index) => {
    const line = index + 1;
    return text.trim() === '' ? [] : [{ ...readCase(text, schema, `${file}:${line}`), line }];
  });
}

function readCase<T>(line: string, schema: z.ZodType<T>, place: string): T {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new Error(`${place}: no JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Error(`${place}: no case of this kind\n${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
