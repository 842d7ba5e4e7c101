/** `npm run corpus -- rescue|sse FILE.jsonl …`: runs the cases of files through the product's own reader. */
import { parseArgs } from 'node:util';
import { describeFailure } from './describe-failure.ts';
import { type Kind, runCorpus } from './run-corpus.ts';

const help = `npm run corpus -- rescue FILE.jsonl …   calls, thinking and text out of what a model wrote
npm run corpus -- sse FILE.jsonl …      one reply out of a raw stream of events

Each line of a file is a case in JSON. It is run as it is cut, whole, and one character (or byte) at a time.
It passes when all three give what it expects. A failure is shown with the lines that differ: - was expected,
+ came. The exit code is 1 when a case failed, 2 when a file cannot be read.
`;
const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', short: 'h', default: false } },
    allowPositionals: true,
  });
  const [kind, ...files] = positionals;
  if (values.help) {
    print(help.trimEnd());
    return 0;
  }
  if (!isKind(kind) || files.length === 0) throw new Error(`say which corpus, and its file\n\n${help.trimEnd()}`);
  const verdicts = new Map<string, boolean>();
  for (const file of files) {
    for (const outcome of await runCorpus(kind, file)) {
      const place = `${file}:${outcome.line}`;
      verdicts.set(place, outcome.passed && verdicts.get(place) !== false);
      if (!outcome.passed) print(describeFailure(outcome));
    }
  }
  const failed = [...verdicts.values()].filter((passed) => !passed).length;
  const passed = verdicts.size - failed;
  print(`${passed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

function isKind(word: string | undefined): word is Kind {
  return word === 'rescue' || word === 'sse';
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`corpus: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
