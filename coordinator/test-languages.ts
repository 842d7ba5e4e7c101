/** How tests look in a language. All forms are global and read texts without comments. */
export interface TestLanguage {
  /** Files of the language that hold tests. */
  readonly path: RegExp;
  readonly comments: RegExp;
  /** One test case each; the last group that matched is its title. */
  readonly cases: readonly RegExp[];
  readonly assertions: RegExp;
  /** Assertions that hold whatever the code does. */
  readonly empty: RegExp;
  /** What keeps cases from running, or others from running beside them. */
  readonly skips: RegExp;
  /** Where the tests begin in a file that also holds the code. */
  readonly from?: RegExp;
}

const slashComments = /\/\*[\s\S]*?(?:\*\/|$(?![\s\S]))|(?<![^\s;{}()])\/\/(?!go:build).*$/gm;

const javascript: TestLanguage = {
  path: /((^|\/)(__tests__|tests?|specs?|e2e|cypress)\/.*|[._-](test|spec|cy|e2e))\.([cm]?[jt]sx?)$/,
  comments: slashComments,
  cases: [
    /\b[xf]?(?:it|test|specify)(?:\.\w+)*\s*\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*?)\1/g,
    // the second call of test.each([...])('title', …)
    /\)\s*\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*?)\1\s*,/g,
  ],
  assertions:
    /\bexpect(?:\.\w+)*\s*\(|\bassert(?:\.\w+)*\s*\(|\bt\.(?:is|not|deepEqual|notDeepEqual|true|false|truthy|falsy|throws\w*|like|regex|snapshot|equal|ok)\s*\(|\.should\b/g,
  empty:
    /\bexpect\s*\(\s*(?:true|1)\s*\)\s*\.\s*(?:toBe|toEqual|toStrictEqual)\s*\(\s*(?:true|1)\s*\)|\bexpect\s*\(\s*(?:true|1)\s*\)\s*\.\s*toBe(?:Truthy|Defined)\s*\(|\bassert(?:\.ok)?\s*\(\s*(?:true|1)\s*[,)]|\bassert\.\w+\s*\(\s*(true|1)\s*,\s*\1\s*[,)]/g,
  skips:
    /\b(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.(?:skip|only|todo|fixme|fails?|failing)\b|\.(?:skipIf\s*\(\s*true|runIf\s*\(\s*false)\b|\bx(?:it|test|describe|context|specify)\s*\(|\bf(?:it|describe)\s*\(|\bthis\.skip\s*\(|\bt\.(?:skip|todo)\s*\(|[{,]\s*(?:skip|todo|only)\s*:\s*(?!false)/g,
};

const python: TestLanguage = {
  path: /(^|\/)(tests?\/.*|test_[^/]*|[^/]*_test|conftest)\.py$/,
  comments: /^[ \t]*("""|''')[\s\S]*?\1|(?<!\S)#.*$/gm,
  cases: [/^[ \t]*(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(/gm],
  assertions: /\bassert\b|\bself\.(?:assert\w+|fail\w*)\s*\(|\bpytest\.(?:raises|warns)\b|\bassert_\w+\s*\(/g,
  empty: /\bassert\s+(?:True|1)\s*$|\bassert\s+(?:True|1)\s*,|\bself\.assertTrue\(\s*True\s*\)/gm,
  skips:
    /@(?:pytest\.mark\.(?:skip\w*|xfail)|(?:unittest\.)?(?:skip(?:If|Unless)?|expectedFailure))\b|\bpytest\.(?:skip|xfail|importorskip)\s*\(|\bself\.skipTest\s*\(|\bpytestmark\s*=.*(?:skip|xfail)|\b__test__\s*=\s*False|\bcollect_ignore/g,
};

const go: TestLanguage = {
  path: /_test\.go$/,
  comments: slashComments,
  cases: [/^func\s+((?:Test|Benchmark|Fuzz|Example)\w*)\s*\(/gm, /\.Run\(\s*(["`])(.*?)\1/g],
  assertions: /\b[tb]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\b(?:assert|require|is|qt)\.\w+\s*\(/g,
  empty: /\b(?:assert|require)\.True\s*\(\s*t\s*,\s*true\s*[,)]|\bif\s+false\s*\{[^}]*\b[tb]\.(?:Error|Fatal)f?/g,
  skips: /\b[tb]\.Skip(?:f|Now)?\s*\(|^\/\/go:build\s+(?:ignore|never)\b/gm,
};

const rust: TestLanguage = {
  path: /\.rs$/,
  comments: slashComments,
  cases: [/#\[(?:\w+::)*(?:test|rstest)(?:\([^\]]*\))?\](?:\s*#\[[^\]]*\]){0,8}\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)/g],
  assertions: /\b(?:debug_)?assert(?:_\w+)?!\s*[([{]|\bpanic!\s*[([{]|#\[should_panic/g,
  empty: /\bassert!\s*\(\s*true\s*[,)]/g,
  skips: /#\[ignore\b|#\[cfg\(any\(\)\)\]/g,
  from: /#\[(?:cfg\(test\)|(?:\w+::)*(?:test|rstest)\b)/,
};

const java: TestLanguage = {
  path: /(^|\/)(src\/(test|androidTest|integrationTest|it)\/.*|Test\w*|\w*(Test|Tests|TestCase|IT|Spec))\.(java|kt|groovy|scala)$/,
  comments: slashComments,
  cases: [
    /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b(?:[^{};]|\{[^}]*\}){0,300}?\b(?:void|fun)\s+(`[^`]+`|\w+)\s*\(/g,
    /\bpublic\s+void\s+(test\w+)\s*\(\s*\)/g,
  ],
  assertions: /\bassert\w*\s*[({]|\bverify\w*\s*\(|\bfail\s*\(|\bexpected\s*=|\bshould\w*\s*[({]/g,
  empty: /\bassertTrue\s*\(\s*true\s*[,)]|\bassertEquals\s*\(\s*(\d+|true)\s*,\s*\1\s*\)/g,
  skips: /@(?:Disabled\w*|Ignore\w*)\b|\bassumeTrue\s*\(\s*false|\bassumeFalse\s*\(\s*true|\benabled\s*=\s*false/g,
};

const languages: readonly TestLanguage[] = [javascript, python, go, rust, java];

/** Tests in languages whose insides are not read: only that they are there. */
const otherTests =
  /(^|\/)(tests?|specs?)\/.*\.(rb|php|cs|cpp|cc|c|swift|exs?|erl|hs|ml|lua|pl|t|sh|bats|dart|jl|r)$|(_test|_spec|Test|Tests|Spec)\.(rb|php|cs|cpp|cc|c|swift|exs|dart|lua|bats|sh)$/;

/** What a file holds in the way of tests. */
export interface TestContent {
  readonly titles: readonly string[];
  /** Those that can fail. */
  readonly assertions: number;
  readonly skips: readonly string[];
}

/** Reads the tests of a file; undefined when its path is none of a known language's tests. */
export function readTests(path: string, text: string): TestContent | undefined {
  const language = languages.find((candidate) => candidate.path.test(path));
  if (!language) return undefined;
  let code = text.replaceAll(language.comments, '');
  if (language.from && !/(^|\/)tests\//.test(path)) {
    const start = code.search(language.from);
    code = start === -1 ? '' : code.slice(start);
  }
  const titles = language.cases.flatMap((form) =>
    [...code.matchAll(form)].map((match) => match.at(-1) ?? match[1] ?? ''),
  );
  const count = (form: RegExp): number => [...code.matchAll(form)].length;
  return {
    titles,
    assertions: count(language.assertions) - count(language.empty),
    skips: [...code.matchAll(language.skips)].map(([found]) => found.trim()),
  };
}

/** Whether a path is a test of a language that is not read inside. */
export function isOtherTest(path: string): boolean {
  return otherTests.test(path);
}
