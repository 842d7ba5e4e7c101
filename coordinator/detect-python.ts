import type { CommitView, SourceCommands } from './commit-view.ts';

const sources = ['pyproject.toml', 'tox.ini', 'setup.cfg', 'setup.py', 'pytest.ini', 'requirements.txt'];
const requirementFiles = [
  'requirements.txt',
  'requirements-dev.txt',
  'requirements-test.txt',
  'dev-requirements.txt',
  'test-requirements.txt',
  'requirements_dev.txt',
];

/**
 * Commands of a Python project. Tools of a lock file run through their manager; otherwise dependencies go into a `.venv` of the tree, so
 * that trees at work at the same time do not share an installation, with the image's packages in reach.
 */
export async function detectPython(view: CommitView): Promise<SourceCommands | undefined> {
  const { names } = view;
  const from = sources.find((name) => names.has(name));
  if (!from) return undefined;
  const texts = new Map<string, string>();
  for (const name of [...sources, ...requirementFiles, 'conftest.py'])
    if (names.has(name)) texts.set(name, (await view.read(name)) ?? '');
  const project = texts.get('pyproject.toml') ?? '';

  const managed = manager(names, project);
  const setup = managed?.setup ?? pipSetup(texts, project);
  const python = managed ? `${managed.run} ` : setup ? '.venv/bin/python -m ' : 'python3 -m ';
  const test = await testCommand(view, texts, python);
  const ruff = /^\[tool\.ruff[\].]/m.test(project) || names.has('ruff.toml') || names.has('.ruff.toml');
  const lint = ruff && (managed || declares(texts, 'ruff')) ? `${python}ruff check .` : undefined;
  if (!test && !lint) return undefined;
  return { ...(setup && { setup }), ...(test && { test }), ...(lint && { lint }), from };
}

function manager(names: ReadonlySet<string>, project: string): { setup: string; run: string } | undefined {
  if (names.has('uv.lock')) return { setup: 'uv sync --locked --all-extras', run: 'uv run' };
  if (names.has('poetry.lock') || /^\[tool\.poetry\]/m.test(project))
    return { setup: 'poetry install', run: 'poetry run' };
  if (names.has('pdm.lock')) return { setup: 'pdm install', run: 'pdm run' };
  if (names.has('Pipfile.lock')) return { setup: 'pipenv sync --dev', run: 'pipenv run' };
  return undefined;
}

/** Installs what is declared; a project that declares nothing needs no set-up. */
function pipSetup(texts: ReadonlyMap<string, string>, project: string): string | undefined {
  const files = requirementFiles
    .filter((name) => /^\s*[^#\s]/m.test(texts.get(name) ?? ''))
    .map((name) => `-r ${name}`);
  const installable =
    texts.has('setup.py') || /^\[build-system\]/m.test(project) || /^\s*dependencies\s*=\s*\[\s*["']/m.test(project);
  const extras = /^\[project\.optional-dependencies\]([^[]*(?:\[[^\]]*\][^[]*)*)/m.exec(project)?.[1] ?? '';
  const extra = ['test', 'tests', 'testing', 'dev'].find((name) =>
    new RegExp(`^\\s*["']?${name}["']?\\s*=`, 'm').test(extras),
  );
  const parts = [...files, ...(installable ? [`-e '.${extra ? `[${extra}]` : ''}'`] : [])];
  if (parts.length === 0) return undefined;
  return `python3 -m venv --system-site-packages .venv && .venv/bin/python -m pip install -q ${parts.join(' ')}`;
}

async function testCommand(
  view: CommitView,
  texts: ReadonlyMap<string, string>,
  python: string,
): Promise<string | undefined> {
  const project = texts.get('pyproject.toml') ?? '';
  const configured =
    texts.has('pytest.ini') ||
    texts.has('conftest.py') ||
    /^\[tool\.pytest[\].]/m.test(project) ||
    /^\[(tool:)?pytest\]/m.test(`${texts.get('setup.cfg')}\n${texts.get('tox.ini')}`);
  if (configured || declares(texts, 'pytest')) return `${python}pytest`;
  if (texts.has('tox.ini') || /^\[tool\.tox\]/m.test(project)) return 'tox';
  for (const folder of ['tests', 'test', '']) {
    if (folder !== '' && !view.names.has(`${folder}/`)) continue;
    const files = (folder === '' ? [...view.names] : await view.list(folder)).filter((name) =>
      /^(test_.*|.*_test)\.py$/.test(name),
    );
    if (files.length === 0) continue;
    const contents = await Promise.all(
      files.slice(0, 20).map((name) => view.read(folder === '' ? name : `${folder}/${name}`)),
    );
    const usesUnittest = contents.every(
      (content) => /\bunittest\b/.test(content ?? '') && !/\bpytest\b/.test(content ?? ''),
    );
    if (!usesUnittest) return `${python}pytest`;
    return `${python.startsWith('uv') || !python.endsWith('-m ') ? `${python}python -m ` : python}unittest discover${folder === '' ? '' : ` -s ${folder} -t .`}`;
  }
  return undefined;
}

function declares(texts: ReadonlyMap<string, string>, name: string): boolean {
  const asked = new RegExp(`(^|["'\\s])${name}(\\[[^\\]]*\\])?\\s*($|["'<>=~!;,])`, 'm');
  return [...texts].some(([file, text]) => file !== 'tox.ini' && asked.test(text));
}
