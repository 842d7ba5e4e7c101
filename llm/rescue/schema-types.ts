import { isObject } from '../upstream/errors.ts';

/** The types that a tool's JSON schema gives its parameters; a parameter is left out where the schema does not say. */
export function parameterTypes(schema: unknown): Readonly<Record<string, readonly string[]>> {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const known = Object.entries(properties).map(([name, property]) => [name, [...typesIn(property, 0)]] as const);
  return Object.fromEntries(known.filter(([, types]) => types.length > 0));
}

function typesIn(schema: unknown, depth: number): Set<string> {
  if (!isObject(schema) || depth > 5) return new Set();
  const { type, anyOf, oneOf } = schema;
  const own = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string');
  if (own.length > 0) return new Set(own);
  const choices = [anyOf, oneOf].find(Array.isArray) ?? [];
  const found = choices.map((choice) => typesIn(choice, depth + 1));
  // one choice that does not say makes all of them unknown
  if (choices.length > 0) return found.some((types) => types.size === 0) ? new Set() : union(found);
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  return new Set(values.map(typeOf));
}

function union(sets: readonly Set<string>[]): Set<string> {
  return new Set(sets.flatMap((set) => [...set]));
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
