import { isMentioned, writtenMentions } from './mention.ts';
import { kindOf, type Read, writtenText } from './variables.ts';

/** Why a build is none of our business; undefined when it is. */
export function notForUs(read: Read, roles: readonly string[] | undefined): string | undefined {
  const event = read('CNB_EVENT');
  if (event === undefined) return undefined;
  if (kindOf(event) === undefined) return `the event ${event} is not a mention`;
  const name = read('CNB_NPC_NAME');
  const slug = read('CNB_NPC_SLUG')?.toLowerCase();
  if (!event.endsWith('@npc') && name === undefined && slug === undefined)
    return `the comment behind ${event} mentions no agent`;
  if (name === undefined) return undefined;
  if (roles && !roles.includes(name))
    return `the mention is for ${name}, and this agent answers to ${roles.join(', ')}`;
  const byName = read('CNB_BUILD_USER_NPC_NAME');
  const bySlug = read('CNB_BUILD_USER_NPC_SLUG')?.toLowerCase();
  if (byName === name && (bySlug === undefined || slug === undefined || bySlug === slug))
    return `${name} itself wrote the mention`;
  // The whole text as it was written; the part CNB cut out for us may lack our mention.
  const text = writtenText(read) ?? '';
  const mentions = writtenMentions(text);
  if (slug !== undefined && mentions.length > 0 && !isMentioned({ slug, name }, text)) {
    return `the text mentions ${mentions.map((mention) => mention.text).join(', ')}, not ${slug}(${name})`;
  }
  return undefined;
}

/** The variables without which not even the thread is known or can be answered, by name. */
export function missingNames(read: Read): readonly string[] {
  const kind = kindOf(read('CNB_EVENT'));
  const number = read('CNB_ISSUE_IID') ?? read('CNB_PULL_REQUEST_IID');
  const numberName =
    kind === undefined
      ? 'CNB_ISSUE_IID or CNB_PULL_REQUEST_IID'
      : kind === 'issue'
        ? 'CNB_ISSUE_IID'
        : 'CNB_PULL_REQUEST_IID';
  const always = ['CNB_EVENT', 'CNB_REPO_SLUG', 'CNB_TOKEN', 'CNB_NPC_NAME'].filter((name) => read(name) === undefined);
  const needs: [string, unknown][] = [
    [numberName, number],
    ['CNB_BUILD_USER', read('CNB_BUILD_USER') ?? read('CNB_BUILD_USER_NPC_NAME')],
    ['CNB_BUILD_WORKSPACE', read('CNB_BUILD_WORKSPACE') ?? read('PWD')],
    kind === 'pr'
      ? ['CNB_BRANCH', read('CNB_BRANCH')]
      : ['CNB_DEFAULT_BRANCH', read('CNB_DEFAULT_BRANCH') ?? read('CNB_BRANCH')],
  ];
  if (kind === 'pr' && read('CNB_PULL_REQUEST_IID'))
    needs.push(['CNB_PULL_REQUEST_BRANCH', read('CNB_PULL_REQUEST_BRANCH')]);
  return [...always, ...needs.filter(([, value]) => value === undefined).map(([name]) => name)];
}

/** What in the variables cannot be true together, as phrases for a person. */
export function contradictions(read: Read): readonly string[] {
  const wrong: string[] = [];
  const event = read('CNB_EVENT');
  const issue = read('CNB_ISSUE_IID');
  const pull = read('CNB_PULL_REQUEST_IID');
  if (issue && pull)
    wrong.push(`CNB_ISSUE_IID is ${issue} and CNB_PULL_REQUEST_IID is ${pull}, but a mention stands in one of them`);
  else if (kindOf(event) === 'issue' && !issue)
    wrong.push(`CNB_EVENT is ${event}, but CNB_PULL_REQUEST_IID is set instead of CNB_ISSUE_IID`);
  else if (kindOf(event) === 'pr' && !pull)
    wrong.push(`CNB_EVENT is ${event}, but CNB_ISSUE_IID is set instead of CNB_PULL_REQUEST_IID`);
  for (const [name, value] of [
    ['CNB_ISSUE_IID', issue],
    ['CNB_PULL_REQUEST_IID', pull],
  ] as const) {
    if (value !== undefined && !/^[1-9]\d*$/.test(value)) wrong.push(`${name} is "${value}", not a number`);
  }
  if (!isSlug(read('CNB_REPO_SLUG')))
    wrong.push(`CNB_REPO_SLUG is "${read('CNB_REPO_SLUG')}", not a path like team/repository`);
  if (read('CNB_COMMENT_BODY') && !read('CNB_COMMENT_ID')) wrong.push('CNB_COMMENT_BODY is set without CNB_COMMENT_ID');
  const mode = read('CNB_NPC_ENABLE_WORKMODE');
  if (mode !== undefined && mode !== 'true' && mode !== 'false')
    wrong.push(`CNB_NPC_ENABLE_WORKMODE is "${mode}", neither true nor false`);
  return wrong;
}

/** Whether a text is a repository's path of two or more segments. */
export function isSlug(slug: string | undefined): boolean {
  return slug !== undefined && /^[^/\s]+(?:\/[^/\s]+)+$/.test(slug);
}
