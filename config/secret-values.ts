import type { Environment } from './environment.ts';

const secretName =
  /TOKEN(?!S)|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|_KEY$|^KEY$|_AUTH$|^AUTH$/i;
const publicName = /PUBLIC_?KEY/i;
const loginInUrl = /:\/\/[^/\s:@]*:([^/\s@]+)@/g;

/** The values of an environment that are secrets, by the names of their variables; also passwords inside addresses. */
export function secretValues(environment: Environment): string[] {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(environment)) {
    if (secretName.test(name) && !publicName.test(name) && !isPath(value)) found.add(value);
    for (const [, password] of value.matchAll(loginInUrl)) {
      if (password === undefined) continue;
      found.add(password);
      found.add(decoded(password));
    }
  }
  return [...found];
}

/** Such a variable may also say where the secret lies. */
function isPath(value: string): boolean {
  return /^(\.{0,2}|~)\/[\w./@-]*$/.test(value) && !value.includes('==');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
