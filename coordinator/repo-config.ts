import { isCollection, isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { nearest } from '../base/nearest.ts';
import type { Repository } from './repository.ts';

const text = z.string().trim().min(1, 'must not be empty');

/** What a repository says about itself in `.npc/config.yml`; every key may be left out. */
export const RepoConfig = z.strictObject({
  /** Commands that the run checks with; an empty string says that there is none, so that none is guessed. */
  commands: z
    .strictObject({
      setup: z.string().trim(),
      build: z.string().trim(),
      test: z.string().trim(),
      lint: z.string().trim(),
    })
    .partial()
    .default({}),
  /** Language that people are answered in. */
  language: z.enum(['zh-CN', 'en']).optional(),
  model: text.optional(),
  flash_model: text.optional(),
  review_model: text.optional(),
  /** Further agents that a run starts; `exec` as in `npc-crew agent ROLE --exec`. */
  agents: z
    .array(
      z.strictObject({
        role: z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be 1-32 of a-z 0-9 _ -, starting with a letter'),
        exec: text,
      }),
    )
    .max(16)
    .default([]),
  /** Who may start a run; default: whoever the platform let trigger. */
  allow: z
    .strictObject({ users: z.array(text), access: z.enum(['Guest', 'Reporter', 'Developer', 'Master', 'Owner']) })
    .partial()
    .default({}),
});
export type RepoConfig = z.infer<typeof RepoConfig>;

/** The configuration, or the first fault in it as one line: what, where, and how to mend it. */
export type RepoConfigReading = { readonly config: RepoConfig } | { readonly problem: string };

const PATH = '.npc/config.yml';
const MOST_CHARACTERS = 64 * 1024;

/** Reads `.npc/config.yml` of a commit; a repository without one gets the defaults. */
export async function readRepoConfig(repository: Repository, sha: string): Promise<RepoConfigReading> {
  const source = await repository.show(sha, PATH);
  if (source !== undefined) return parseRepoConfig(source);
  const other = (await repository.list(sha, '.npc')).find((name) => /^config\.(ya?ml|json)$/i.test(name));
  if (other) return { problem: `.npc/${other} is not read; rename it to ${PATH}` };
  return { config: RepoConfig.parse({}) };
}

export function parseRepoConfig(source: string): RepoConfigReading {
  if (source.length > MOST_CHARACTERS) return { problem: `${PATH} is longer than 64 KiB; is it the right file?` };
  const counter = new LineCounter();
  const document = parseDocument(source.replace(/^\uFEFF/, ''), { lineCounter: counter, prettyErrors: false });
  const place = (offset: number): string => {
    const { line, col } = counter.linePos(offset);
    return `${PATH} line ${line}, column ${col}`;
  };
  const [error] = document.errors;
  if (error) return { problem: `${place(error.pos[0])}: no valid YAML: ${error.message.split('\n')[0]}` };

  let value: unknown;
  try {
    value = document.toJS();
  } catch (thrown) {
    return { problem: `${PATH}: no valid YAML: ${(thrown as Error).message}` };
  }
  const reading = RepoConfig.safeParse(value ?? {});
  if (reading.success) return { config: reading.data };
  // A mistyped key also makes the right one missing; the typing error is what to tell.
  const { issues } = reading.error;
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (!issue) return { problem: `${PATH} cannot be read` };
  const path = issue.path.filter((key) => typeof key !== 'symbol');
  if (issue.code === 'unrecognized_keys') return { problem: unknownKey(path, issue.keys[0] ?? '') };
  const node = document.getIn(path, true);
  const missing = node === undefined && path.length > 0;
  const holder = missing ? document.getIn(path.slice(0, -1), true) : node;
  const offset = isScalar(holder) || isCollection(holder) ? holder.range?.[0] : undefined;
  const where = offset === undefined ? PATH : place(offset);
  return { problem: `${where}: ${keyName(path)}${missing ? 'is missing' : describe(issue)}` };

  function unknownKey(parent: readonly (string | number)[], key: string): string {
    const map = parent.length === 0 ? document.contents : document.getIn(parent, true);
    const pair = isMap(map)
      ? map.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
      : undefined;
    const start = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
    const known = knownKeys(parent);
    const meant = nearest(key, known);
    const cure =
      meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${keyName([...parent, meant]).trim()}?`;
    return `${start === undefined ? PATH : place(start)}: ${keyName([...parent, key])}is not a key; ${cure}`;
  }
}

function keyName(path: readonly (string | number)[]): string {
  const name = path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`))
    .join('');
  return name === '' ? '' : `${name} `;
}

/** Keys that the schema knows at this place. */
function knownKeys(path: readonly (string | number)[]): string[] {
  const groups: Readonly<Record<string, readonly string[]>> = {
    commands: ['setup', 'build', 'test', 'lint'],
    agents: ['role', 'exec'],
    allow: ['users', 'access'],
  };
  return [...(groups[String(path[0])] ?? Object.keys(RepoConfig.shape))];
}

function describe(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_type') {
    const wanted: Readonly<Record<string, string>> = { string: 'a text', array: 'a list', object: 'a group of keys' };
    const kind = wanted[issue.expected] ?? issue.expected;
    return `${issue.path.length === 0 ? 'the file ' : ''}must be ${kind}${issue.expected === 'string' && issue.path.length > 0 ? '; put it in quotes if it is one' : ''}`;
  }
  if (issue.code === 'too_big') return `has more than ${issue.maximum} entries`;
  return issue.message;
}
