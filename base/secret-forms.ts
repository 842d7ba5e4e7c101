/** Shortest secret that is masked by value; below it masking would eat ordinary words. Characters. */
export const SHORTEST_SECRET = 6;
const SHORTEST_PART = 8;
const SHORTEST_VALUE = 12;

/**
 * Every spelling in which a secret may turn up, longest first: as it is, line by line, the string values inside JSON and the values
 * of `key: value` lines, and each of these URL-encoded, escaped as in JSON and HTML, in hexadecimal, and inside base64 at any of its three offsets.
 */
export function secretForms(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const part of secrets.flatMap(parts)) {
    forms.add(part);
    const encoded = encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));
    forms.add(encoded);
    forms.add(encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
    forms.add(encoded.replaceAll('%20', '+'));
    forms.add(JSON.stringify(part).slice(1, -1));
    forms.add(part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
  }
  const wholes = secrets.filter((secret) => secret.trim().length >= SHORTEST_SECRET);
  for (const text of [...wholes, ...secrets.flatMap(parts)])
    for (const form of [...base64Forms(text), ...hexForms(text)]) forms.add(form);
  return [...forms].sort((a, b) => b.length - a.length);
}

function parts(secret: string): string[] {
  const whole = secret.trim();
  if (whole.length < SHORTEST_SECRET) return [];
  const lines = whole.split(/\r?\n/).map((line) => line.trim());
  if (lines.length === 1) return [whole, ...jsonStrings(whole)];
  const kept = lines.filter((line) => line.length >= SHORTEST_PART && !line.startsWith('-----'));
  const values = kept.flatMap((line) => /^[^:=\s]+\s*[:=]\s*["']?([^\s"']+)["']?,?$/.exec(line)?.[1] ?? []);
  return [...kept, ...values.filter((value) => value.length >= SHORTEST_VALUE), ...jsonStrings(whole)];
}

function jsonStrings(text: string): string[] {
  if (!/^[[{]/.test(text)) return [];
  const found: string[] = [];
  try {
    JSON.parse(text, (_key, value: unknown) => {
      if (typeof value === 'string' && value.length >= SHORTEST_PART) found.push(value);
      return value;
    });
  } catch {
    // not JSON after all: its lines are masked as they are
  }
  return found;
}

function hexForms(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex');
  return [hex, hex.toUpperCase()];
}

/** The characters of the base64 text that depend on the secret alone, for each place where it can begin in a group of three bytes. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const whole = bytes.toString('base64');
  const cores = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const end = (offset + bytes.length) % 3 === 0 ? text.length : text.length - 1;
    return text.slice([0, 2, 3][offset], end);
  });
  return [whole, ...cores]
    .filter((form) => form.length >= SHORTEST_PART)
    .flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}
