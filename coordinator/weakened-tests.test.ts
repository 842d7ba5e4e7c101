import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainEnv, tempFolder, tempRepository } from '../test/helpers/temp-repository.ts';
import { openRepository } from './repository.ts';
import { findWeakened, weakenedTests } from './weakened-tests.ts';

/** Reasons found when one file changes. */
function reasons(path: string, before: string | undefined, after: string | undefined): string[] {
  return findWeakened([{ path, before, after }]).map((finding) => finding.reason.en);
}

const js = `import { test, expect } from 'vitest';
// a comment: test('not a test', () => {})
test('adds', () => { expect(add(1, 2)).toBe(3); });
describe('more', () => {
  it("it's nested", async () => { await expect(run()).rejects.toThrow(); });
  test.each([[1, 2], [3, 4]])('row %s', (a) => { expect(a).toBeGreaterThan(0); });
});
`;
const py = `import pytest

def test_adds():
    assert add(1, 2) == 3

class TestMore:
    async def test_more(self):
        with pytest.raises(ValueError):
            run()
`;
const goFile = `package x
func TestAdds(t *testing.T) {
	if add(1, 2) != 3 { t.Errorf("wrong") }
	t.Run("nested", func(t *testing.T) { require.Equal(t, 1, one()) })
}
`;
const rs = `pub fn add(a: i32) -> i32 { assert!(a > 0); a }
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { assert_eq!(add(1), 1); }
    #[tokio::test]
    async fn more() { assert!(add(2) == 2, "text"); }
}
`;
const javaFile = `class AddTest {
  @Test
  void adds() { assertEquals(3, add(1, 2)); }
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void more(int a) { assertThat(a).isPositive(); }
}
`;

test('R-TREE-10: nothing is found where tests are only added, moved within a file, renamed or explained', () => {
  expect(reasons('src/a.test.ts', js, `${js}test('new', () => { expect(1).toBe(one()); });\n`)).toEqual([]);
  expect(reasons('src/a.test.ts', undefined, js)).toEqual([]);
  expect(reasons('src/a.test.ts', js, js.replace("'adds'", "'adds numbers'"))).toEqual([]);
  expect(reasons('src/a.test.ts', js, js.replace('toBe(3)', 'toBe(4)'))).toEqual([]);
  expect(reasons('src/a.ts', js, '')).toEqual([]);
  expect(reasons('tests/test_a.py', py, py.replace('test_adds', 'test_adds_numbers'))).toEqual([]);
  expect(reasons('a_test.go', goFile, goFile.replace('1, 2', '2, 2'))).toEqual([]);
  expect(reasons('src/lib.rs', rs, rs.replace('assert!(a > 0); ', ''))).toEqual([]);
  expect(reasons('src/test/java/AddTest.java', javaFile, `${javaFile}// more\n`)).toEqual([]);
});

test('R-TREE-10: a deleted test file is found, in any language', () => {
  expect(reasons('src/a.test.ts', js, undefined)).toEqual([
    expect.stringContaining('the test file was deleted, with "adds"'),
  ]);
  expect(reasons('tests/test_a.py', py, undefined)[0]).toContain('"test_adds", "test_more"');
  expect(reasons('a_test.go', goFile, undefined)[0]).toContain('"TestAdds", "nested"');
  expect(reasons('tests/it.rs', rs, undefined)[0]).toContain('"adds", "more"');
  expect(reasons('src/test/java/AddTest.java', javaFile, undefined)[0]).toContain('"adds", "more"');
  expect(reasons('spec/user_spec.rb', 'it "works" do\nend\n', undefined)).toEqual(['the test file was deleted']);
  expect(reasons('tests/run.bats', 'x'.repeat(500), '#\n')).toEqual(['the test file was emptied']);
});

test('R-TREE-10: removed and commented-out cases are found, in each language', () => {
  expect(reasons('src/a.test.ts', js, js.replace(/^test\('adds'.*$/m, ''))).toEqual([
    'test cases were removed: "adds"',
  ]);
  expect(reasons('src/a.test.ts', js, js.replace("test('adds'", "// test('adds'"))).toEqual([
    'test cases were removed: "adds"',
  ]);
  expect(reasons('src/a.test.ts', js, js.replace(/^ {2}test\.each.*$/m, ''))).toEqual([
    'test cases were removed: "row %s"',
  ]);
  expect(reasons('src/a.test.ts', js, '')).toHaveLength(1);
  expect(reasons('tests/test_a.py', py, py.replace('def test_adds', 'def adds'))).toEqual([
    'test cases were removed: "test_adds"',
  ]);
  expect(reasons('tests/test_a.py', py, py.replace('def test_adds', '# def test_adds'))).toHaveLength(1);
  expect(reasons('a_test.go', goFile, goFile.replace(/^\tt\.Run.*$/m, ''))).toEqual([
    'test cases were removed: "nested"',
  ]);
  expect(reasons('src/lib.rs', rs, rs.replace('#[test]', ''))).toEqual(['test cases were removed: "adds"']);
  expect(reasons('src/test/java/AddTest.java', javaFile, javaFile.replace('  @Test\n', ''))).toEqual([
    'test cases were removed: "adds"',
  ]);
});

test('R-TREE-10: fewer assertions, and ones that cannot fail, are found', () => {
  const one = ['1 assertion(s) that could fail were removed'];
  expect(reasons('src/a.test.ts', js, js.replace('expect(add(1, 2)).toBe(3);', ''))).toEqual(one);
  expect(reasons('src/a.test.ts', js, js.replace('expect(add(1, 2)).toBe(3);', 'expect(true).toBe(true);'))).toEqual(
    one,
  );
  expect(reasons('tests/test_a.py', py, py.replace('assert add(1, 2) == 3', 'assert True'))).toEqual(one);
  expect(reasons('a_test.go', goFile, goFile.replace('t.Errorf("wrong")', ''))).toEqual(one);
  expect(reasons('src/lib.rs', rs, rs.replace('assert!(add(2) == 2, "text")', 'assert!(true, "text")'))).toEqual(one);
  expect(
    reasons('src/test/java/AddTest.java', javaFile, javaFile.replace('assertEquals(3, add(1, 2))', 'assertTrue(true)')),
  ).toEqual(one);
  // a new case of the same number does not pay for a lost assertion
  expect(
    reasons('src/a.test.ts', js, js.replace(/^test\('adds'.*$/m, "test('fine', () => { expect(true).toBe(true); });")),
  ).toHaveLength(1);
});

test('R-TREE-10: new skips and lone runs are found, in each language', () => {
  const cases: [string, string, string][] = [
    ['src/a.test.ts', js, js.replace("test('adds'", "test.skip('adds'")],
    ['src/a.test.ts', js, js.replace("describe('more'", "describe.only('more'")],
    ['src/a.test.ts', js, `${js}test.todo('later');\n`],
    ['src/a.test.ts', js, js.replace('it("', 'xit("')],
    ['src/a.test.ts', js, js.replace("test('adds', ", "test('adds', { skip: true }, ")],
    ['tests/test_a.py', py, py.replace('def test_adds', '@pytest.mark.skip(reason="x")\ndef test_adds')],
    ['tests/test_a.py', py, py.replace('    assert', '    pytest.skip("x")\n    assert')],
    ['tests/test_a.py', py, `${py}\n@pytest.mark.xfail\ndef test_new():\n    assert one()\n`],
    ['a_test.go', goFile, goFile.replace('{\n', '{\n\tt.Skip("flaky")\n')],
    ['a_test.go', goFile, `//go:build ignore\n\n${goFile}`],
    ['src/lib.rs', rs, rs.replace('#[test]', '#[test]\n    #[ignore]')],
    ['src/test/java/AddTest.java', javaFile, javaFile.replace('@Test', '@Disabled("x")\n  @Test')],
  ];
  for (const [path, before, after] of cases)
    expect(reasons(path, before, after), after).toEqual([expect.stringMatching(/^tests are kept from running: /)]);
  expect(reasons('src/a.test.ts', cases[0]?.[2], js)).toEqual([]);
});

test('R-TREE-10: changed scripts and settings of tests are found, others are not', () => {
  const pack = (scripts: Record<string, string>, more: object = {}) => JSON.stringify({ scripts, ...more });
  const before = pack(
    { test: 'npm run unit && npm run lint', unit: 'vitest run', dev: 'vite', lint: 'eslint .' },
    { jest: { bail: 1 } },
  );
  const change = (scripts: Record<string, string>, more: object = { jest: { bail: 1 } }) =>
    reasons('package.json', before, pack(scripts, more));
  const scripts = { test: 'npm run unit && npm run lint', unit: 'vitest run', dev: 'vite', lint: 'eslint .' };
  expect(
    change({ ...scripts, dev: 'vite --host', start: 'node .' }, { jest: { bail: 1 }, dependencies: { a: '1' } }),
  ).toEqual([]);
  expect(change({ ...scripts, test: 'exit 0' })).toEqual([
    'the script "test" was changed from `npm run unit && npm run lint` to `exit 0`',
  ]);
  expect(change({ ...scripts, unit: 'vitest run || true' })).toHaveLength(1);
  expect(change({ test: scripts.test, unit: scripts.unit, dev: 'vite' })).toEqual(['the script "lint" was removed']);
  expect(change({ ...scripts, pretest: 'rm -rf test' })).toEqual(['a script "pretest" now runs with "test"']);
  expect(change(scripts, { jest: {} })).toEqual(['the settings "jest" were changed']);
  expect(
    reasons('package.json', pack({ test: 'echo "Error: no test specified" && exit 1' }), pack({ test: 'vitest run' })),
  ).toEqual([]);

  expect(reasons('vitest.config.ts', 'test: {}', 'test: { exclude: [] }')[0]).toContain('exclude');
  expect(reasons('vitest.config.ts', undefined, 'export default {}')).toEqual([]);
  expect(reasons('pytest.ini', undefined, '[pytest]\naddopts = --ignore=tests/slow\n')).toHaveLength(1);
  expect(reasons('vite.config.ts', 'plugins: []', 'plugins: [a()]')).toEqual([]);
  expect(
    reasons('vite.config.ts', 'a: {}, test: { include: [] }', 'a: {}, test: { include: [], passWithNoTests: true }'),
  ).toHaveLength(1);
  expect(
    reasons(
      'pyproject.toml',
      '[project]\nname = "x"\n[tool.pytest.ini_options]\na = 1\n',
      '[project]\nname = "y"\n[tool.pytest.ini_options]\na = 1\n',
    ),
  ).toEqual([]);
  expect(
    reasons('pyproject.toml', '[tool.pytest.ini_options]\na = 1\n', '[tool.pytest.ini_options]\na = 2\n'),
  ).toHaveLength(1);
  expect(
    reasons(
      'Makefile',
      'test: unit\n\tgo test ./...\nunit:\n\tgo vet\nrun:\n\tgo run .\n',
      'test: unit\n\tgo test ./...\nunit:\n\ttrue\nrun:\n\tgo run ./x\n',
    ),
  ).toEqual(['what `make unit` does was changed']);
  expect(reasons('pom.xml', '<project/>', '<project><skipTests>true</skipTests></project>')).toHaveLength(1);
  expect(reasons('Cargo.toml', '[package]\n', '[package]\nautotests = false\n')).toHaveLength(1);
  expect(reasons('.npc/config.yml', 'commands: {test: a}', 'commands: {test: b}')).toHaveLength(1);
  expect(reasons('src/package.ts', 'a', 'b')).toEqual([]);
});

test('R-TREE-10: a case that moved to another file is not lost', () => {
  const line = /^test\('adds'.*$/m;
  const moved = [
    { path: 'src/a.test.ts', before: js, after: js.replace(line, '') },
    { path: 'src/b.test.ts', before: undefined, after: line.exec(js)?.[0] ?? '' },
  ];
  expect(findWeakened(moved)).toEqual([]);
  expect(
    findWeakened([
      { path: 'a.test.ts', before: js, after: undefined },
      { path: 'b.test.ts', before: undefined, after: js },
    ]),
  ).toEqual([]);
});

test('R-TREE-10: findings come from the commits themselves, renames followed', async () => {
  const user = await tempRepository({
    'src/a.test.js': js,
    'src/b.test.js': js.replaceAll('adds', 'other'),
    'src/c.js': 'x',
  });
  const base = await user.git('rev-parse', 'HEAD');
  const sha = await user.commit({
    'src/a.test.js': null,
    'src/moved.test.js': js,
    'src/b.test.js': null,
    'src/b.txt': js.replaceAll('adds', 'other'),
    'src/c.js': null,
  });
  const repository = await openRepository({
    stateDir: join(await tempFolder(), 'state'),
    checkout: user.path,
    env: plainEnv,
  });
  expect((await weakenedTests(repository, { base, sha })).map((finding) => finding.path)).toEqual(['src/b.test.js']);
  expect(await weakenedTests(repository, { base, sha: base })).toEqual([]);
});

test('R-TREE-10: large and hostile files take no time', () => {
  const started = performance.now();
  for (const piece of [
    'test(',
    "test('",
    '@Test ',
    '/* ',
    ')(',
    '#[test] ',
    'def test',
    'expect(true).',
    '"""',
    ' ',
    '{ skip',
  ])
    for (const path of ['a.test.ts', 'test_a.py', 'a_test.go', 'src/a.rs', 'ATest.java', 'package.json', 'Makefile'])
      reasons(path, 'x', piece.repeat(20_000));
  for (const piece of [
    '\n',
    '\t',
    'def pytest_a(\n',
    'func TestMain(m){',
    'coverage: {',
    'testpaths =\n ',
    '$(A)',
    'a:',
    ' a',
  ])
    for (const path of ['conftest.py', 'a_test.go', 'Makefile', '.npmrc', 'jest.config.js', 'pytest.ini', 'setup.cfg'])
      for (const before of [undefined, 'x']) reasons(path, before, piece.repeat(10_000));
  expect(performance.now() - started).toBeLessThan(3_000);
});
