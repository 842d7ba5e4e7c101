import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainEnv, tempFolder, tempRepository } from '../test/helpers/temp-repository.ts';
import { parseRepoConfig, readRepoConfig } from './repo-config.ts';
import { openRepository } from './repository.ts';

const empty = { commands: {}, agents: [], allow: {} };

test('R-TREE-14: a whole configuration is read', () => {
  const source = `# our commands
commands: { setup: npm ci, build: "npm run build", test: npm test, lint: '' }
language: zh-CN
model: big
flash_model: small
review_model: careful
agents:
  - role: translator
    exec: my-agent {task} {result}
allow:
  users: [ann, "42"]
  access: Developer
`;
  expect(parseRepoConfig(source)).toEqual({
    config: {
      commands: { setup: 'npm ci', build: 'npm run build', test: 'npm test', lint: '' },
      language: 'zh-CN',
      model: 'big',
      flash_model: 'small',
      review_model: 'careful',
      agents: [{ role: 'translator', exec: 'my-agent {task} {result}' }],
      allow: { users: ['ann', '42'], access: 'Developer' },
    },
  });
});

test('R-TREE-14: an empty file, one with comments alone and one with a byte order mark are fine', () => {
  for (const source of ['', '# nothing yet\n', '---\n', 'null', '\uFEFFlanguage: en\n'])
    expect(parseRepoConfig(source), JSON.stringify(source)).toEqual({
      config: source.includes('language') ? { ...empty, language: 'en' } : empty,
    });
});

test('R-TREE-14: each fault is one line that says what, where and how to mend it', () => {
  const cases: Record<string, string | RegExp> = {
    'comands:\n  test: x\n': '.npc/config.yml line 1, column 1: comands is not a key; did you mean commands?',
    'commands:\n  tset: x\n':
      '.npc/config.yml line 2, column 3: commands.tset is not a key; did you mean commands.test?',
    'review-model: x\n': '.npc/config.yml line 1, column 1: review-model is not a key; did you mean review_model?',
    'zebra: 1\n': /zebra is not a key; known are commands, language, model/,
    'language: en\nagents:\n  - rol: x\n    exec: y\n':
      '.npc/config.yml line 3, column 5: agents[0].rol is not a key; did you mean agents[0].role?',
    'language: chinese\n': '.npc/config.yml line 1, column 11: language must be one of zh-CN, en',
    'commands:\n  test: [a, b]\n':
      '.npc/config.yml line 2, column 9: commands.test must be a text; put it in quotes if it is one',
    'commands:\n  test: yes\nmodel: 5\n': /line 3, column 8: model must be a text/,
    'model: ""\n': '.npc/config.yml line 1, column 8: model must not be empty',
    'agents: coder\n': '.npc/config.yml line 1, column 9: agents must be a list',
    'agents:\n  - role: Big Role\n    exec: x\n':
      '.npc/config.yml line 2, column 11: agents[0].role must be 1-32 of a-z 0-9 _ -, starting with a letter',
    'agents:\n  - role: x\n': '.npc/config.yml line 2, column 5: agents[0].exec is missing',
    'allow: { access: Admin }\n': /allow\.access must be one of Guest, Reporter, Developer, Master, Owner/,
    '- a\n- b\n': '.npc/config.yml line 1, column 1: the file must be a group of keys',
    'just words\n': /the file must be a group of keys/,
    'a: 1\na: 2\n': /line 2, column 1: no valid YAML: Map keys must be unique/,
    'commands: {test: x\n': /no valid YAML/,
    'commands:\n\ttest: x\n': /line 2, column 1: no valid YAML/,
    'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c]\n':
      /no valid YAML|is not a key/,
    [`model: ${'x'.repeat(70_000)}`]: /longer than 64 KiB/,
  };
  for (const [source, problem] of Object.entries(cases)) {
    const reading = parseRepoConfig(source);
    expect(reading, source).toHaveProperty('problem');
    const told = 'problem' in reading ? reading.problem : '';
    if (typeof problem === 'string') expect(told).toBe(problem);
    else expect(told, source).toMatch(problem);
    expect(told).not.toContain('\n');
    expect(told).toContain('.npc/config.yml');
  }
});

test('R-TREE-14: the file of the given commit counts, and one with another ending is not passed over in silence', async () => {
  const user = await tempRepository({ '.npc/config.yml': 'commands: { test: first }\n' });
  const base = await user.git('rev-parse', 'HEAD');
  const later = await user.commit({ '.npc/config.yml': null, '.npc/config.yaml': 'commands: { test: second }\n' });
  const none = await user.commit({ '.npc/config.yaml': null, 'a.txt': 'a' });
  const repository = await openRepository({
    stateDir: join(await tempFolder(), 'state'),
    checkout: user.path,
    env: plainEnv,
  });
  expect(await readRepoConfig(repository, base)).toEqual({ config: { ...empty, commands: { test: 'first' } } });
  expect(await readRepoConfig(repository, later)).toEqual({
    problem: '.npc/config.yaml is not read; rename it to .npc/config.yml',
  });
  expect(await readRepoConfig(repository, none)).toEqual({ config: empty });
});
