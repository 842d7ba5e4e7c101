import type { z } from 'zod';
import { AppError } from '../base/errors.ts';
import type { Environment } from './environment.ts';

/** Where settings come from; the first that has a value wins: flags, environment, file, the schema's default. */
export interface ConfigSources {
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment?: Environment;
  readonly file?: { readonly path: string; readonly values: Readonly<Record<string, unknown>> };
}

/**
 * Reads one settings object. A field names its variable with `.meta({ env: 'NPC_MODEL' })` as the last call of its chain; an empty
 * variable counts as unset. Returns it frozen; throws `AppError('usage')` naming the flag, variable or file at fault.
 */
export function readConfig<S extends z.ZodObject>(schema: S, sources: ConfigSources): Readonly<z.infer<S>> {
  const values: Record<string, unknown> = {};
  const origins = new Map<string, string>();
  for (const [field, type] of Object.entries(schema.shape)) {
    const found = find(field, (type as z.ZodType).meta()?.env, sources);
    if (!found) continue;
    values[field] = found.value;
    origins.set(field, found.origin);
  }
  const parsed = schema.safeParse(values);
  if (parsed.success) return Object.freeze(parsed.data);
  const faults = parsed.error.issues.map((issue) => {
    const field = String(issue.path[0]);
    return `${origins.get(field) ?? field}: ${issue.message}`;
  });
  throw new AppError('usage', `wrong setting: ${faults.join('; ')}`);
}

function find(
  field: string,
  variable: unknown,
  sources: ConfigSources,
): { value: unknown; origin: string } | undefined {
  const flag = sources.flags?.[field];
  if (flag !== undefined) return { value: flag, origin: `--${kebab(field)}` };
  const fromEnvironment = typeof variable === 'string' ? sources.environment?.[variable] : undefined;
  if (fromEnvironment?.trim()) return { value: fromEnvironment, origin: String(variable) };
  const fromFile = sources.file?.values[field];
  if (fromFile !== undefined) return { value: fromFile, origin: `${sources.file?.path}, ${field}` };
  return undefined;
}

function kebab(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
