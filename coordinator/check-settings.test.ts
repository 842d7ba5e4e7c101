import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainEnv, tempFolder, tempRepository } from '../test/helpers/temp-repository.ts';
import { git } from './git.ts';
import { openRepository } from './repository.ts';
import { weakenedTests } from './weakened-tests.ts';

type Files = Readonly<Record<string, string | null>>;
interface Case {
  readonly base?: Readonly<Record<string, string>>;
  readonly change: Files;
  readonly commands?: readonly string[];
  readonly request?: string;
}

const jsTest = "test('adds', () => { expect(add(1, 2)).toBe(3); });\n";
const node = {
  'package.json': JSON.stringify({ scripts: { test: 'vitest run', dev: 'vite' } }),
  'src/a.test.js': jsTest,
};
const python = { 'tests/test_a.py': 'def test_a():\n    assert one() == 1\n' };
const go = { 'go.mod': 'module x\n', 'a_test.go': 'package x\nfunc TestA(t *testing.T) { t.Error(one()) }\n' };

/** Makes one repository for all cases; each case starts from a commit of its own. Returns the paths found in each. */
async function findings(cases: readonly Case[]): Promise<string[][]> {
  const user = await tempRepository();
  const pairs = cases.flatMap(({ base = node, change }) => [base, { ...base, ...change }]);
  const commits = pairs.map(
    (files, at) =>
      `commit refs/heads/c${at}\ncommitter A <a@example.invalid> 0 +0000\ndata 1\nx\ndeleteall\n${Object.entries(files)
        .filter(([, text]) => text !== null)
        .map(([path, text]) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text ?? '')}\n${text}\n`)
        .join('')}\n`,
  );
  await git(['fast-import', '--quiet'], { cwd: user.path, env: plainEnv, input: commits.join('') });
  const stateDir = join(await tempFolder(), 'state');
  const repository = await openRepository({ stateDir, checkout: user.path, env: plainEnv });
  const found: string[][] = [];
  for (const [at, { commands = [], request = '' }] of cases.entries()) {
    const [base, sha] = [`c${at * 2}`, `c${at * 2 + 1}`];
    const weakened = await weakenedTests(repository, { base, sha, commands, request });
    for (const { reason } of weakened) expect(reason['zh-CN']).toMatch(/\p{Script=Han}/u);
    found.push([...new Set(weakened.map(({ path }) => path))]);
  }
  return found;
}

async function allFound(cases: readonly (Case & { readonly where: string })[]): Promise<void> {
  expect(await findings(cases)).toEqual(cases.map(({ where }) => [where]));
}

async function noneFound(cases: readonly Case[]): Promise<void> {
  expect((await findings(cases)).map((paths, at) => (paths.length > 0 ? [paths, cases[at]?.change] : []))).toEqual(
    cases.map(() => []),
  );
}

const packageJson = (more: object, scripts: object = { test: 'vitest run', dev: 'vite' }): string =>
  JSON.stringify({ scripts, ...more });

test('R-TREE-15: settings of package managers that change what scripts run are found', async () => {
  await allFound([
    { where: '.npmrc', change: { '.npmrc': 'script-shell=/bin/true\n' } },
    { where: '.npmrc', base: { ...node, '.npmrc': 'a=b\n' }, change: { '.npmrc': 'a=b\nscript-shell = "./sh"\n' } },
    { where: 'web/.npmrc', change: { 'web/.npmrc': 'ignore-scripts=true\n' } },
    { where: '.npmrc', change: { '.npmrc': 'node-options=--require ./fake.js\n' } },
    { where: '.yarnrc', change: { '.yarnrc': 'script-shell "/bin/true"\n' } },
    { where: '.yarnrc', change: { '.yarnrc': 'yarn-path ./fake.js\n' } },
    { where: '.yarnrc.yml', change: { '.yarnrc.yml': 'nodeLinker: node-modules\nyarnPath: ./fake.cjs\n' } },
    { where: '.yarnrc.yml', change: { '.yarnrc.yml': 'plugins:\n  - path: ./fake.cjs\n' } },
    {
      where: 'pnpm-workspace.yaml',
      change: { 'pnpm-workspace.yaml': 'packages: [a]\nscriptShell: /bin/true\n' },
    },
    { where: 'bunfig.toml', change: { 'bunfig.toml': '[test]\npreload = ["./fake.ts"]\n' } },
    { where: '.cargo/config.toml', change: { '.cargo/config.toml': '[target.x]\nrunner = "true"\n' } },
  ]);
});

test('R-TREE-15: what make runs is found, also where another Makefile goes in front', async () => {
  const base = {
    Makefile: 'PY = pytest\ntest lint: dep\n\t$(PY) tests\ndep:\n\techo\nrun:\n\t./run\n',
    ...python,
  };
  const make = (edit: (text: string) => string): Files => ({ Makefile: edit(base.Makefile) });
  await allFound([
    { where: 'Makefile', base, change: make((text) => `SHELL := /bin/true\n${text}`) },
    { where: 'Makefile', base, change: make((text) => `.SHELLFLAGS = -c true\n${text}`) },
    { where: 'Makefile', base, change: make((text) => text.replace('PY = pytest', 'PY = true')) },
    { where: 'Makefile', base, change: make((text) => `.IGNORE:\n${text}`) },
    { where: 'Makefile', base, change: make((text) => `${text}test: SHELL = /bin/true\n`) },
    { where: 'Makefile', base, change: make((text) => text.replace('\t$(PY) tests', '\t-$(PY) tests')) },
    { where: 'Makefile', base, change: make((text) => `export PYTEST_ADDOPTS = -k x\n${text}`) },
    { where: 'Makefile', base, change: make((text) => text.replace('./run', './x')), commands: ['make run'] },
    { where: 'GNUmakefile', base, change: { GNUmakefile: 'test:\n\ttrue\n' } },
    { where: 'makefile', base, change: { makefile: 'test:\n\ttrue\n' } },
  ]);
});

test('R-TREE-15: a script that the checks call is found when it changes', async () => {
  const sh = '#!/bin/sh\nset -e\n. "$(dirname "$0")/common.sh"\npytest\n';
  const changed = sh.replace('pytest', 'pytest || true');
  const called = (
    test: string,
    path: string,
    more: object = {},
  ): Omit<Case, 'change'> & { base: Record<string, string> } => ({
    base: { ...node, 'package.json': packageJson(more, { test }), [path]: sh },
  });
  await allFound([
    { where: 'run-tests.sh', ...called('./run-tests.sh', 'run-tests.sh'), change: { 'run-tests.sh': changed } },
    { where: 'run-tests.sh', ...called('./run-tests.sh', 'run-tests.sh'), change: { 'run-tests.sh': null } },
    {
      where: 'scripts/test.sh',
      ...called('bash -eu scripts/test.sh', 'scripts/test.sh'),
      change: { 'scripts/test.sh': changed },
    },
    {
      where: 'tools/run.js',
      ...called('NODE_ENV=test node tools/run.js --all', 'tools/run.js'),
      change: { 'tools/run.js': '' },
    },
    { where: 'tools/run.js', ...called('node tools/run', 'tools/run.js'), change: { 'tools/run.js': '//\n' } },
    {
      where: 'ci/unit.json',
      ...called('vitest run --config ci/unit.json', 'ci/unit.json'),
      change: { 'ci/unit.json': '{}' },
    },
    { where: 'test/run.js', ...called('cd test && node run.js', 'test/run.js'), change: { 'test/run.js': 'x' } },
    {
      where: 'ci/common.sh',
      base: { ...node, 'ci/all.sh': sh, 'ci/common.sh': 'set -e\n' },
      commands: ['sh ci/all.sh'],
      change: { 'ci/common.sh': 'pytest() { :; }\n' },
    },
    {
      where: 'tools/check.py',
      base: { Makefile: 'PY ?= python3\ntest:\n\t@$(PY) tools/check.py\n', 'tools/check.py': 'main()\n' },
      change: { 'tools/check.py': 'pass\n' },
    },
    {
      where: 'tools/run.py',
      base: { ...python, 'tools/run.py': 'main()\n' },
      commands: ['timeout 60 python3 -m tools.run'],
      change: { 'tools/run.py': 'pass\n' },
    },
    {
      where: 'tests/run.sh',
      base: { 'tests/run.sh': 'check one\ncheck two\n' },
      commands: ['bash tests/run.sh'],
      change: { 'tests/run.sh': 'exit 0\ncheck one\ncheck two\n' },
    },
    {
      where: 'gradlew',
      base: { gradlew: '#!/bin/sh\njava\n' },
      commands: ['./gradlew test'],
      change: { gradlew: 'true\n' },
    },
  ]);
});

test('R-TREE-15: new settings of a runner that leave tests out are found', async () => {
  await allFound([
    { where: 'package.json', change: { 'package.json': packageJson({ jest: { testPathIgnorePatterns: ['a'] } }) } },
    { where: 'package.json', change: { 'package.json': packageJson({ mocha: { spec: 'x' } }) } },
    { where: 'package.json', change: { 'package.json': packageJson({ vitest: { include: ['x'] } }) } },
    { where: 'package.json', change: { 'package.json': packageJson({ ava: { files: ['!a'] } }) } },
    { where: 'package.json', change: { 'package.json': packageJson({ c8: { exclude: ['src'] } }) } },
    { where: 'package.json', change: { 'package.json': packageJson({ nyc: { include: [] } }) } },
    { where: 'vitest.config.ts', change: { 'vitest.config.ts': "export default { test: { include: ['b'] } };\n" } },
    { where: 'jest.config.js', change: { 'jest.config.js': "module.exports = { testMatch: ['b'] };\n" } },
    { where: '.mocharc.yml', change: { '.mocharc.yml': 'spec: b\n' } },
    { where: '.mocharc.json', change: { '.mocharc.json': '{"grep": "b"}\n' } },
    { where: 'karma.conf.js', change: { 'karma.conf.js': "module.exports = (c) => c.set({ files: ['b'] });\n" } },
    { where: 'vite.config.ts', change: { 'vite.config.ts': "export default { test: { exclude: ['src'] } };\n" } },
    { where: 'pytest.ini', base: python, change: { 'pytest.ini': '[pytest]\ntestpaths = other\n' } },
    { where: 'pytest.ini', base: python, change: { 'pytest.ini': '[pytest]\naddopts = -k nothing\n' } },
    { where: 'tox.ini', base: python, change: { 'tox.ini': '[pytest]\naddopts = --deselect tests/test_a.py\n' } },
    { where: 'setup.cfg', base: python, change: { 'setup.cfg': '[tool:pytest]\naddopts = --ignore=tests\n' } },
    {
      where: 'pyproject.toml',
      base: { ...python, 'pyproject.toml': '[project]\n' },
      change: { 'pyproject.toml': '[project]\n[tool.pytest.ini_options]\ntestpaths = ["other"]\n' },
    },
    {
      where: 'pyproject.toml',
      base: python,
      change: { 'pyproject.toml': '[tool.pytest.ini_options]\naddopts = "--ignore=tests"\n' },
    },
    {
      where: '.npc/config.yml',
      base: { '.npc/config.yml': 'model: a\n' },
      change: { '.npc/config.yml': 'model: b\n' },
    },
    { where: '.npc/flow.json', base: { '.npc/flow.json': '[1]\n' }, change: { '.npc/flow.json': '[]\n' } },
    { where: '.npc/config.yml', change: { '.npc/config.yml': 'commands: {test: "true"}\n' } },
  ]);
});

test('R-TREE-15: code that decides how the tests end is found', async () => {
  const hook = (name: string, body: string): Files => ({
    'tests/conftest.py': `import pytest\n\ndef ${name}:\n    ${body}\n`,
  });
  const where = 'tests/conftest.py';
  const main = (body: string): Files => ({
    'main_test.go': `package x\nfunc TestMain(m *testing.M) {\n\t${body}\n}\n`,
  });
  await allFound([
    {
      where,
      base: python,
      change: hook('pytest_runtest_makereport(item, call)', "o = yield\n    o.get_result().outcome = 'passed'"),
    },
    { where, base: python, change: hook('pytest_collection_modifyitems(config, items)', 'items[:] = []') },
    { where, base: python, change: hook('pytest_collection_modifyitems(items)', 'items.clear()') },
    { where, base: python, change: hook('pytest_sessionfinish(session, exitstatus)', 'session.exitstatus = 0') },
    { where, base: python, change: hook('pytest_sessionfinish(session)', 'os._exit(0)') },
    { where: 'main_test.go', base: go, change: main('m.Run()\n\tos.Exit(0)') },
    { where: 'main_test.go', base: go, change: main('os.Exit(0)') },
    { where: 'main_test.go', base: go, change: main('m.Run()\n\tconst ok = 0\n\tos.Exit(ok)') },
  ]);
});

test('R-TREE-15: ordinary tests, first settings and scripts that no check runs are no finding', async () => {
  const bare = { 'package.json': packageJson({}), 'src/a.js': 'x\n' };
  await noneFound([
    { change: { 'src/b.test.js': jsTest, 'src/a.test.js': `${jsTest}${jsTest.replace('adds', 'more')}` } },
    {
      base: bare,
      change: {
        'vitest.config.ts': "export default { test: { include: ['src/**/*.test.js'] } };\n",
        'src/a.test.js': jsTest,
      },
    },
    { base: bare, change: { 'package.json': packageJson({ jest: { testMatch: ['x'] } }) } },
    { base: { 'a.py': 'x\n' }, change: { 'pytest.ini': '[pytest]\ntestpaths = tests\n', ...python } },
    { base: python, change: { 'pytest.ini': '[pytest]\ntestpaths = tests\naddopts = -ra --strict-markers\n' } },
    {
      change: {
        'vitest.config.ts': "export default { test: { environment: 'jsdom', coverage: { exclude: ['x'] } } };\n",
      },
    },
    { change: { 'package.json': packageJson({ jest: { testEnvironment: 'jsdom' } }) } },
    {
      change: {
        'package.json': packageJson({}, { test: 'vitest run', dev: 'vite --host', release: 'node release.js' }),
      },
    },
    { change: { '.npmrc': 'registry=https://registry.example.invalid/\nsave-exact=true\n' } },
    { change: { 'pnpm-workspace.yaml': 'packages:\n  - web\n' } },
    { change: { '.yarnrc.yml': 'nodeLinker: node-modules\n' } },
    {
      base: { Makefile: 'test:\n\tgo test ./...\n' },
      change: { Makefile: 'V = 2\ntest:\n\tgo test ./...\ndocs:\n\techo $(V)\n' },
    },
    { base: { 'a.txt': 'x' }, change: { Makefile: 'SHELL := /bin/bash\ntest:\n\tpytest\n' } },
    { change: { 'scripts/new.sh': 'x\n', 'scripts/test.sh': 'pytest\n' } },
    { base: { ...node, 'scripts/deploy.sh': 'a\n' }, change: { 'scripts/deploy.sh': 'b\n' } },
    {
      base: { 'package.json': packageJson({}, { test: 'node test.js' }), 'test.js': 'assert(one() === 1);\n' },
      change: { 'test.js': 'assert(one() === 1);\nassert(two() === 2);\n' },
    },
    {
      base: { 'package.json': packageJson({}, { test: 'node src/cli.js --check && tsc' }), 'src/cli.js': 'a\n' },
      change: { 'src/cli.js': 'b\n' },
    },
    {
      base: { 'tests/run.sh': 'check one\n' },
      commands: ['bash tests/run.sh'],
      change: { 'tests/run.sh': 'check one\ncheck two\n' },
    },
    {
      base: { 'run-tests.sh': '# one\npytest\n' },
      commands: ['./run-tests.sh'],
      change: { 'run-tests.sh': '# two\npytest\n' },
    },
    {
      base: python,
      change: {
        'tests/conftest.py':
          "import pytest\n\n@pytest.fixture\ndef one():\n    return 1\n\ndef pytest_runtest_makereport(item, call):\n    rep = yield\n    setattr(item, 'rep_' + call.when, rep)\n\ndef pytest_collection_modifyitems(items):\n    items.sort()\n",
      },
    },
    {
      base: go,
      change: {
        'main_test.go':
          'package x\nfunc TestMain(m *testing.M) {\n\tif bad() { os.Exit(1) }\n\tcode := m.Run()\n\tos.Exit(code)\n}\n',
      },
    },
    {
      base: go,
      change: { 'main_test.go': 'package x\nfunc TestMain(m *testing.M) {\n\tgoleak.VerifyTestMain(m)\n}\n' },
    },
    { base: go, change: { 'main_test.go': 'package x\nfunc TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n' } },
  ]);
});

test('R-TREE-15: what the request asks for by name is no finding, what it only mentions is one', async () => {
  const base = { ...node, 'run-tests.sh': 'pytest\n' };
  const change = { 'run-tests.sh': 'pytest -x\n' };
  const commands = ['./run-tests.sh'];
  expect(
    await findings([
      { base, change, commands, request: 'Please make it quick: add -x to run-tests.sh.' },
      { base, change, commands, request: '请修改 run-tests.sh，加上 -x' },
      { base, change, commands, request: 'When I start run-tests.sh it fails. Fix the parser.' },
      { change: { '.npmrc': 'script-shell=/bin/bash\n' }, request: 'Set script-shell in .npmrc to bash' },
    ]),
  ).toEqual([[], [], ['run-tests.sh'], []]);
});
