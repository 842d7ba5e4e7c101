/** A set of environment variables; unset ones are absent. */
export type Environment = Readonly<Record<string, string>>;

/** A copy of this process's environment. Read nowhere else; other rooms get what they need as arguments. */
export function environment(): Environment {
  const copy: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) copy[name] = value;
  return copy;
}
