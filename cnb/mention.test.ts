import fc from 'fast-check';
import { expect, test } from 'vitest';
import { liveMentions, requestTo, stripMention } from './mention.ts';
import { neutraliseMentions } from './neutralise.ts';

const self = { slug: 'team/tools/agents', name: 'Agent' };
const mention = '@team/tools/agents(Agent)';

test.each([
  ['a plain paragraph', `${mention} fix it`],
  ['the middle of a sentence', `please ${mention}, fix it`],
  ['right behind Chinese words', `请看${mention}修一下`],
  ['a heading', `# ${mention}`],
  ['a paragraph after a list and a blank line', `- one\n- two\n\n${mention} fix it`],
  ['a paragraph after closed code', `\`\`\`\ncode\n\`\`\`\n${mention}`],
])('R-CNB-1: a mention in %s fires', (_where, text) => {
  expect(liveMentions(text)).toEqual([{ text: mention, slug: self.slug, name: 'Agent' }]);
});

test.each([
  ['a quote', `> ${mention} fix it`],
  ['a line that goes on with a quote', `> said\n${mention} fix it`],
  ['a list', `- ${mention}`],
  ['a numbered list', `1. ${mention}`],
  ['a later paragraph of a list item', `- one\n\n  ${mention}`],
  ['a table', `| a | b |\n| --- | --- |\n| ${mention} | x |`],
  ['fenced code', `\`\`\`\n${mention}\n\`\`\``],
  ['indented code', `text\n\n    ${mention}`],
  ['a code span', `write \`${mention}\` to ask`],
  ['folded details', `<details><summary>x</summary>\n\n${mention}\n\n</details>`],
  ['an HTML comment', `<!-- ${mention} -->`],
])('R-CNB-1: a mention in %s does not fire', (_where, text) => {
  expect(liveMentions(text)).toEqual([]);
});

test('R-CNB-1: CodeBuddy is mentioned by its short name and with a model', () => {
  expect(liveMentions('@CodeBuddy and @npc/CodeBuddy(glm-5)').map(({ name, slug }) => [slug, name])).toEqual([
    [undefined, 'CodeBuddy'],
    [undefined, 'CodeBuddy'],
  ]);
});

test.each([
  [`${mention} fix the bug`, 'fix the bug'],
  ['@Agent fix the bug', 'fix the bug'],
  ['@Agent，修一下', '修一下'],
  ['@Agent请修复', '请修复'],
  [`${mention}\nfirst line\n\nsecond`, 'first line\n\nsecond'],
  [`hello\n${mention} do it`, 'hello\ndo it'],
  [`please ${mention} fix it`, 'please fix it'],
  ['@Agent', ''],
  ['@Team/Tools/Agents（Agent） ok', 'ok'],
  ['@Agent keep `@Agent` in code', 'keep `@Agent` in code'],
  ['@Agent ask @other/bot(Helper)', 'ask @other/bot(Helper)'],
  ['@AgentSmith hello', '@AgentSmith hello'],
  ['@Agent/x hello', '@Agent/x hello'],
  ['me@Agent hello', 'me@Agent hello'],
])('R-CNB-2: our mention is taken out of %j', (text, request) => {
  expect(stripMention(self, text)).toBe(request);
});

test('R-CNB-2: a repository whose name has a hyphen is mentioned like any other', () => {
  expect(requestTo({ slug: 'team/npc-crew', name: 'Agent' }, '@team/npc-crew(Agent) fix it')).toBe('fix it');
});

test('R-CNB-2: a comment is a request to us only when our mention in it fires', () => {
  expect(requestTo(self, '@Agent stop')).toBe('stop');
  expect(requestTo(self, `${mention} stop`)).toBe('stop');
  expect(requestTo(self, '> @Agent stop')).toBeUndefined();
  expect(requestTo(self, '@other/bot(Agent) stop')).toBeUndefined();
  expect(requestTo(self, 'stop')).toBeUndefined();
});

test.each([
  [`ask ${mention} to go on`, `ask \`${mention}\` to go on`],
  ['@CodeBuddy', '`@CodeBuddy`'],
  ['@npc/CodeBuddy(glm-5)', '`@npc/CodeBuddy(glm-5)`'],
  ['thanks @alice.', 'thanks `@alice`.'],
  ['请@张三 看', '请`@张三` 看'],
  ['`@Agent continue`', '`@Agent continue`'],
  ['mail me@example.com', 'mail me@example.com'],
  ['git@cnb.cool:a/b', 'git@cnb.cool:a/b'],
  ['https://medium.com/@user/post', 'https://medium.com/%40user/post'],
  [`\`\`\`ts\n@decorator\n\`\`\``, `\`\`\`ts\n@decorator\n\`\`\``],
  ['<!-- {"by":"@alice"} -->', '<!-- {"by":"\\u0040alice"} -->'],
  ['a ` b @alice c', 'a ` b @\u200balice c'],
  ['`a\n`@alice`', '`a\n`@\u200balice`'],
  ['\\`@alice\\`', '\\`@\u200balice\\`'],
  ['1 @ 2', '1 @ 2'],
  ['  ```\n\n```\n@alice\n  ```\n', '  ```\n\n```\n@\u200balice\n  ```\n'],
  ['<details>\n```\n</details>\n\n@alice\n\n```', '<details>\n```\n</details>\n\n`@alice`\n\n```'],
  ['<details>\n\n```\n@alice\n```\n\n</details>', '<details>\n\n```\n@alice\n```\n\n</details>'],
  ['see:\n```\n@alice\n```', 'see:\n```\n@alice\n```'],
])('R-CNB-3: our own text never mentions anybody: %j', (text, quiet) => {
  expect(neutraliseMentions(text)).toBe(quiet);
});

test('R-CNB-3: whatever the text, no mention fires after it was neutralised, and doing it twice changes nothing', () => {
  const pieces = [
    mention,
    '@Agent',
    '@CodeBuddy',
    '@npc/CodeBuddy(m)',
    '`',
    '``',
    '```',
    '\n',
    '\n\n',
    '\n```\n',
    '\n  ```\n',
  ];
  const more = [
    '> ',
    '- ',
    '    ',
    '\\',
    '<!--',
    '-->',
    '<details>',
    '</details>',
    '| a |',
    '\n|---|\n',
    '# ',
    'word',
    ' ',
    '~~~\n',
  ];
  const texts = fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 24 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      const quiet = neutraliseMentions(text);
      expect(liveMentions(quiet)).toEqual([]);
      expect(neutraliseMentions(quiet)).toBe(quiet);
    }),
    { numRuns: 2000 },
  );
});

test('R-CNB-1: a repository whose name has signs in it is taken literally', () => {
  const dashed = { slug: 'my-team/npc-crew.v2', name: 'Agent+' };
  expect(requestTo(dashed, '@my-team/npc-crew.v2(Agent+) fix it')).toBe('fix it');
  expect(requestTo(dashed, '@my-team/npc-crewxv2(Agent+) fix it')).toBeUndefined();
});
