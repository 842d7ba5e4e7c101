/**
 * What is bound to differ between two runs, and what stands for it in the normal form. The order counts: a time goes before the
 * numbers in it.
 */
const variable: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\bcall_[0-9A-Za-z]{20,32}\b/g, '<id>'],
  [/\b\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z\b|[+-]\d{2}:?\d{2}))?)?/g, '<time>'],
  // as git and date write it
  [
    /\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [A-Z0-9][a-z0-9]{1,2} +[A-Z0-9][a-z0-9]{0,2} +(\d{4} )?\d{2}:\d{2}:\d{2}( [A-Z]{3})?( \d{4})?( [+-]\d{4})?/g,
    '<time>',
  ],
  [/\b\d{2}:\d{2}:\d{2}(\.\d+)?\b/g, '<time>'],
  // ms since epoch
  [/\b1[5-9]\d{11}\b/g, '<time>'],
  [/\bduration_ms:? \d+(\.\d+)?/g, '<duration>'],
  [/\b\d+(\.\d+)? ?ms\b|\b\d+\.\d+ ?s(ec(onds)?)?\b/g, '<duration>'],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/g, '<sha>'],
  [/((?:127\.0\.0\.1|localhost|\[::1\]):)\d{2,5}\b/g, '$1<port>'],
  [/\b(pid[ :=]+)\d+\b/gi, '$1<pid>'],
  [/(?<![\w.~-])(\/private)?(\/tmp|\/var\/tmp|\/var\/folders\/\w+\/\w+\/T)\/[\w.-]+/g, '<tmp>'],
];

/** Fields of messages whose text is an id, which gateway and provider draw anew. */
const idFields = new Set(['id', 'tool_call_id', 'thought_signature']);

/** Texts in the form in which two runs that did the same have the same. */
export class NormalForm {
  readonly #names: readonly (readonly [text: string, name: string])[];

  /** `names`: texts that have another value in each run, such as its folders, by what they are. */
  constructor(names: Readonly<Record<string, string>>) {
    this.#names = Object.entries(names)
      .filter(([, text]) => text.length > 2)
      .map(([name, text]) => [text, `<${name}>`] as const)
      // what lies in a folder is not named after the folder
      .sort(([a], [b]) => b.length - a.length);
  }

  text(text: string): string {
    let normal = text;
    for (const [known, name] of this.#names) normal = normal.replaceAll(known, name);
    for (const [pattern, name] of variable) normal = normal.replaceAll(pattern, name);
    return normal;
  }

  /** A JSON value with all its texts in the normal form; pictures stay. */
  value(value: unknown): unknown {
    if (typeof value === 'string') return value.startsWith('data:') ? value : this.text(value);
    if (Array.isArray(value)) return value.map((inner) => this.value(inner));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        idFields.has(key) && typeof inner === 'string' ? '<id>' : this.value(inner),
      ]),
    );
  }
}
