import { z } from 'zod';
import { TaskId } from '../../protocol/index.ts';
import { type Refusal, refuse } from '../refusal.ts';

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number) {
  const message = `a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,16}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}

/** A position in the log. */
export const position = whole(0, Number.MAX_SAFE_INTEGER);

/** `?name`, `?name=1` and `?name=true` are yes. */
export const flag = z
  .enum(['', '1', 'true', '0', 'false'], '1 or 0')
  .transform((value) => value !== '0' && value !== 'false');

/** A moment: ms since epoch, or ISO 8601. */
export const moment = z
  .string()
  .transform((text) => (/^\d{1,16}$/.test(text) ? Number(text) : Date.parse(text)))
  .refine((ms) => Number.isFinite(ms), 'ms since 1970, or a time like 2026-01-31T12:00:00Z');

/** The id of a task, not the empty one. */
export const taskId = TaskId.refine((id) => id !== '', 'an id is needed');

/** Reads what stands behind the `?`: unknown names, names given twice and values that do not fit are refused by their name. */
export function readQuery<Query>(schema: z.ZodType<Query>, given: URLSearchParams): Query | Refusal {
  const names = [...given.keys()].filter((name) => name !== 'token');
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return refuse(400, 'bad_query', `${twice}: it is given twice`);
  const read = schema.safeParse(Object.fromEntries(names.map((name) => [name, given.get(name)])));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  if (issue?.code !== 'unrecognized_keys') {
    return refuse(400, 'bad_query', `${issue?.path.join('.') ?? 'query'}: ${issue?.message ?? 'wrong'}`);
  }
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const cure = known.length > 0 ? `it can be ${known.join(', ')}` : 'nothing is known here';
  return refuse(400, 'bad_query', `${issue.keys.join(', ')}: no such parameter; ${cure}`);
}
