import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostileTexts } from '../../test/helpers/hostile-text.ts';
import { cpuOf, offered, rescued, rescueIn } from '../../test/helpers/rescued.ts';
import { formats, type MeantCall } from '../../test/helpers/written-calls.ts';
import { Rescue } from './rescue.ts';

/** Time that a property test may take, ms. */
const LIMIT = { interruptAfterTimeLimit: 500, numRuns: 100_000 };
const meant: MeantCall[] = [
  { name: 'read_file', input: { path: 'a.ts' } },
  { name: 'run_command', input: { cmd: 'echo "x" > `y`' } },
];
const written = Object.values(formats).map(({ write }) => write(meant));
const corpus = readFileSync(new URL('../../test/fixtures/rescue-cases.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => (JSON.parse(line) as { chunks: string[] }).chunks.join(''));
const scraps = [
  '`',
  '```',
  '```\n',
  '~~~\n',
  '\n',
  '"',
  "'",
  '> ',
  ' ',
  '<',
  '{',
  '}',
  '[',
  ']',
  ';',
  ',',
  '\\',
  'text ',
].concat(
  ['</think>', '<think>', '<|im_end|>', '<|end|>', '>>>', 'functools[', '</tool_call>', '<|channel|>final<|message|>'],
  ['<|channel|>analysis<|message|>', '<|START_TEXT|>', '“', '日本', '\ud83d\ude00'],
);
const piece = fc.oneof(
  fc.constantFrom(...scraps),
  fc.constantFrom(...written, ...corpus),
  fc
    .tuple(fc.constantFrom(...written, ...corpus), fc.nat(), fc.nat())
    .map(([text, from, length]) => text.slice(from % (text.length + 1)).slice(0, length % 60)),
);
const message = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
const thinking = fc.oneof({ weight: 2, arbitrary: fc.constant('') }, message);
const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 });

function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

function result(content: readonly string[], thought: string[]) {
  const { calls, ...rest } = rescueIn(content, {}, thought);
  return { ...rest, calls: calls.map(({ id: _, ...call }) => call) };
}

test('R-LLM-51: S0: any cutting gives the same result', () => {
  fc.assert(
    fc.property(message, thinking, cuts, cuts, (content, thought, some, others) => {
      const whole = result([content], [thought]);
      expect(result(cut(content, some), cut(thought, others))).toEqual(whole);
      expect(result(cut(content, [1]), cut(thought, [1]))).toEqual(whole);
    }),
    LIMIT,
  );
});

test('R-LLM-51: S1: what is shown is a part of what came, in its order, and is never taken back by what comes', () => {
  fc.assert(
    fc.property(message, message, (start, more) => {
      const shownOf = (text: string) => {
        const rescue = new Rescue({ offered: new Set(offered) });
        return rescue.text(text).text;
      };
      const before = shownOf(start);
      expect(shownOf(start + more).startsWith(before)).toBe(true);
      expect(isPart(before, start)).toBe(true);
      expect(isPart(rescueIn([start]).text, start)).toBe(true);
    }),
    LIMIT,
  );
});

/** Whether all units of `part` stand in `whole` in their order. */
function isPart(part: string, whole: string): boolean {
  let at = 0;
  for (const unit of part) {
    at = whole.indexOf(unit, at);
    if (at < 0) return false;
    at += unit.length;
  }
  return true;
}

test('R-LLM-51: S1: prose is shown as soon as it comes, and only what may become something is held', () => {
  const held = (text: string) => {
    const rescue = new Rescue({ offered: new Set(offered) });
    return text.length - cut(text, [1]).reduce((shown, unit) => shown + rescue.text(unit).text.length, 0);
  };
  const prose = `It's "fine": a < b, c > d, f(x)[0] && {y}; ~tilde_ functools, <b>bold</b>. 好的。\n> quoted <tool_call>\n\`\`\`\ncode <x>\n\`\`\`\n`;
  for (let end = 1; end <= prose.length; end += 1) expect(held(prose.slice(0, end))).toBeLessThanOrEqual(9);
  for (const [text, length] of [
    ['x <', 1],
    ['x <tool_c', 7],
    ['x <tool_call>', 11],
    ['x <tool_call> y', 13],
    ['x <tool_call> y z', 0],
    ['x <table>', 0],
    ['x `code', 5],
    ['x `code`', 6],
    ['x `code` ', 0],
    ['x `code\n', 0],
    ['{"na', 4],
    ['{"path', 0],
    ['{"name":"Al', 0],
    ['[read_file(path="', 17],
    ['[x', 0],
    ['x {"name":"read_file', 0],
    ['```\n<tool_call', 0],
    ['"<tool_call', 0],
    [`<tool_call>{"name":"read_file","arguments":{"path":"${'x'.repeat(50)}`, 102],
  ] as const) {
    expect([text, held(text)]).toEqual([text, length]);
  }
});

test('R-LLM-52: calls in fences, code spans and quotations never count, whatever the format', () => {
  const inOneLine = written.map((text) => text.replaceAll('\n', ' ').replaceAll('`', ''));
  fc.assert(
    fc.property(fc.constantFrom(...written), fc.constantFrom(...inOneLine), cuts, (block, line, lengths) => {
      const fence = block.includes('```') ? '~~~' : '```';
      for (const text of [
        `An example:\n${fence}xml\n${block}\n${fence}\nThat is all.`,
        `Never write \`${line}\` here.`,
        `Never write \`\`${line}\`\` here.`,
        `> ${line} x\nThat is all.`,
      ]) {
        const { calls, dropped, text: shown } = rescueIn(cut(text, lengths));
        expect([calls, dropped, shown]).toEqual([[], [], text]);
      }
    }),
    LIMIT,
  );
});

test('R-LLM-57: a file that holds calls of any format is one argument of the one call that writes it', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.entries(formats)), message, cuts, ([name, { write }], content, lengths) => {
      const call = { name: 'write_file', input: { path: 'doc.md', content } };
      const { calls, dropped } = rescueIn(cut(write([call]), lengths));
      // where values are plain text, unbalanced tags of the same kind make the call unusable; half of it never runs,
      // and where thinking seems to end behind them it was a draft (K5)
      const plain = /qwen|seed|glm|minimax-m2|anthropic|step3|v3\.2/.test(name);
      if (plain && calls.length === 0)
        expect([name, dropped.length > 0 || hasThinkingCloser(content)]).toEqual([name, true]);
      else if (!plain) expect(calls.map(({ input }) => input)).toEqual([call.input]);
    }),
    LIMIT,
  );
});

/** Whether a text holds what ends thinking in some format. */
function hasThinkingCloser(text: string): boolean {
  return /<\/(think|thinking|seed:think|mm:think)>|\[\/THINK\]|<\|END_THINKING\|>/.test(text);
}

test('R-LLM-51: a name is known under every cut, also in a character outside the basic plane', () => {
  const text = '😀 <tool_call>{"name":"read_file","arguments":{"path":"😀"}}</tool_call>';
  expect(rescued(text)[1]).toEqual([['read_file', { path: '😀' }]]);
  expect(result(text.split(''), [])).toEqual(result([text], []));
});

test('R-LLM-62: 100 KB take a tenth of the time of 1 MB, or less, whatever stands in them', () => {
  const kinds = ['prose', 'openers', 'runs of backticks', 'closers that are data', 'a string that does not end'];
  const texts = hostileTexts(100_000);
  for (const kind of kinds) {
    const text = texts[kind] ?? '';
    expect([kind, cpuOf(text.split(''), 'text') < 600]).toEqual([kind, true]);
    expect([kind, cpuOf([text], 'text') < 600]).toEqual([kind, true]);
  }
});
