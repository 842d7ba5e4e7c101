import type { ParameterTypes } from '../../llm/rescue/tools.ts';

/** A case's types in the product's form. */
export function typesOf(
  schemas: Readonly<Record<string, Readonly<Record<string, string | string[]>>>>,
): ParameterTypes {
  return Object.fromEntries(
    Object.entries(schemas).map(([tool, types]) => [
      tool,
      Object.fromEntries(Object.entries(types).map(([name, type]) => [name, [type].flat()])),
    ]),
  );
}
