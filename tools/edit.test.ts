import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { type Bench, toolBench } from '../test/helpers/tool-context.ts';
import edit from './edit.ts';
import read from './read.ts';

async function edited(content: string | Buffer, old_string: string, new_string: string, bench?: Bench) {
  const used = bench ?? (await toolBench());
  await used.put('f.txt', content);
  const outcome = await used.use(edit, { path: 'f.txt', old_string, new_string });
  return { ...outcome, after: await used.text('f.txt'), bytes: await used.bytes('f.txt') };
}

test('R-TOOL-20: one exact match is replaced; the answer is a small diff', async () => {
  const { ok, text, after, filesTouched } = await edited('one\ntwo\nthree\nfour\nfive\n', 'three', 'THREE');
  expect({ ok, after, filesTouched }).toEqual({
    ok: true,
    after: 'one\ntwo\nTHREE\nfour\nfive\n',
    filesTouched: ['f.txt'],
  });
  expect(text).toBe('edited f.txt\n@@ -1,5 +1,5 @@\n one\n two\n-three\n+THREE\n four\n five');
});

test('R-TOOL-20: several matches are refused with their lines, at every level, unless all are wanted', async () => {
  const bench = await toolBench();
  const twice = await edited('a = 1\nb\na = 1\n', 'a = 1', 'a = 2', bench);
  expect(twice).toMatchObject({ ok: false, after: 'a = 1\nb\na = 1\n' });
  expect(twice.text).toContain('2 places (lines 1, 3)');
  expect((await edited('x\r\ny\r\nx\r\ny\r\n', 'x\ny', 'z')).text).toContain('2 places');
  expect((await edited('aaa', 'aa', 'b')).text).toContain('2 places');
  await bench.put('f.txt', 'a = 1\nb\na = 1\n');
  const all = await bench.use(edit, { path: 'f.txt', old_string: 'a = 1', new_string: 'a = 2', replace_all: true });
  expect(all.text).toContain('in 2 places');
  expect(await bench.text('f.txt')).toBe('a = 2\nb\na = 2\n');
});

test('R-TOOL-21: text copied from the read view matches a CRLF file, which stays CRLF', async () => {
  const { ok, after } = await edited('a\r\nb\r\nc\r\n', 'a\nb', 'a\nB');
  expect({ ok, after }).toEqual({ ok: true, after: 'a\r\nB\r\nc\r\n' });
});

test.each([
  ['one line becomes several', 'a\r\nb\r\nc\r\n', 'b', 'b1\nb2', 'a\r\nb1\r\nb2\r\nc\r\n'],
  ['several lines become one', 'a\r\nb\r\nc\r\n', 'a\nb\nc', 'a', 'a\r\n'],
  ['a line goes', 'a\r\nb\r\nc\r\n', 'b\n', '', 'a\r\nc\r\n'],
  ['within lines', 'xa\r\nby\r\n', 'a\nb', 'A\nB\nC', 'xA\r\nB\r\nCy\r\n'],
  ['a mark before several lines', '\uFEFFa\r\nb\r\nc\r\n', '\uFEFFa\nb', 'A\nb\nnew', '\uFEFFA\r\nb\r\nnew\r\nc\r\n'],
  ['mixed ends stay as they are', 'a\r\nb\nc\r\nd\n', 'b\nc\nd', 'b\nC\nd', 'a\r\nb\nC\nd\n'],
  ['CRLF from the model in an LF file', 'a\nb\nc\n', 'a\r\nb\r\n', 'a\r\nB\r\n', 'a\nB\nc\n'],
  ['no final newline is forced', 'a\r\nb', 'a\nb', 'a\nc', 'a\r\nc'],
])('R-TOOL-21: line ends: %s', async (_name, content, old, next, after) => {
  expect(await edited(content, old, next)).toMatchObject({ ok: true, after });
});

test('R-TOOL-22: two edits of one file at the same time are both in it', async () => {
  const bench = await toolBench();
  await bench.put('f.txt', Array.from({ length: 100 }, (_, at) => `<${at + 1}>\n`).join(''));
  const numbers = [50, 75, 1, 2, 99, 100];
  const outcomes = await Promise.all(
    numbers.map((at) => bench.use(edit, { path: 'f.txt', old_string: `<${at}>`, new_string: `[${at}]` })),
  );
  expect(outcomes.map(({ ok, text }) => (ok ? 'ok' : text))).toEqual(Array(6).fill('ok'));
  const after = (await bench.text('f.txt')).split('\n');
  expect(numbers.map((at) => after[at - 1])).toEqual(numbers.map((at) => `[${at}]`));
});

test('R-TOOL-23: a block whose middle differs is refused, the file unchanged, and the real lines shown', async () => {
  const content = 'func f() {\n  x := 1\n  y := 2\n  z := 3\n  return x\n}\n';
  const { ok, text, after } = await edited(content, content.replace('y := 2', 'y := 99'), 'func f() {}\n');
  expect({ ok, after }).toEqual({ ok: false, after: content });
  expect(text).toContain('differ first in line 3');
  expect(text).toContain('     3\t  y := 2\n');
});

test.each([
  ['a letter', 'const total = 1;\n', 'const totals = 1;', 'x'],
  ['the case', 'Const a = 1;\n', 'const a = 1;', 'x'],
  ['blanks inside a line', 'a  = 1\n', 'a = 1', 'x'],
  ['an empty line', 'a\n\nb\n', 'a\nb', 'x'],
  ['a line too few', 'a\nb\nc\n', 'a\nc', 'x'],
  ['indentation that is not the same everywhere', 'if x:\n    a\n  b\n', 'if x:\n  a\n  b', 'x'],
  ['trailing blanks where the line goes on', 'foo bar\n', 'fo  ', 'x'],
  ['nothing but blanks', 'a\n\n\nb\n', '   \n  ', 'x'],
])('R-TOOL-23: %s in which they differ is no match', async (_name, content, old, next) => {
  expect(await edited(content, old, next)).toMatchObject({ ok: false, after: content });
});

test('R-TOOL-23: line numbers of the read view in old_string are named as the reason', async () => {
  expect((await edited('a\nb\n', '     1\ta\n     2\tb', 'c')).text).toContain('holds the line numbers');
});

test.each([
  ['trailing space', 'a  \nb\t\nc\n', 'a\nb\nc', 'a\nB\nc', 'a  \nB\nc\n'],
  ['trailing space', 'a\nb\n', 'a  \nb', 'a  \nB', 'a\nB\n'],
  [
    'indentation',
    '    if x:\n        y\n\n    z\n',
    'if x:\n    y\n',
    'if x:\n    Y\n    w\n',
    '    if x:\n        Y\n        w\n\n    z\n',
  ],
  ['indentation', 'if x:\n  y\n', '    if x:\n      y', '    if x:\n      Y', 'if x:\n  Y\n'],
  ['indentation', '\tif x {\r\n\t\ty\r\n\t}\r\n', 'if x {\n\ty\n}', 'if x {\n\tY\n}', '\tif x {\r\n\t\tY\r\n\t}\r\n'],
  ['punctuation', '“a” – b…\nsecond\n', '"a" - b...\nsecond', '"a" - b...\nSECOND', '“a” – b…\nSECOND\n'],
  [
    'punctuation',
    '注意，这里（必须）改：x\n第二行\n',
    '注意,这里(必须)改:x\n第二行',
    '注意,这里(必须)改:x\n第三行',
    '注意，这里（必须）改：x\n第三行\n',
  ],
])(
  'R-TOOL-24: a difference in %s alone still matches, and lines left alone keep their own',
  async (likeness, content, old, next, after) => {
    const outcome = await edited(content, old, next);
    expect(outcome).toMatchObject({ ok: true, after });
    expect(outcome.text).toContain(`(old_string differed in ${likeness})`);
  },
);

test('R-TOOL-24: lines that cannot lose the indentation they would have to lose are refused', async () => {
  expect(await edited('if x:\n  y\n', '    if x:\n      y', 'if x:\n  Y')).toMatchObject({
    ok: false,
    after: 'if x:\n  y\n',
  });
});

test('R-TOOL-24: a cut through one character is no match', async () => {
  expect(await edited('wait… now\n', 'wait..', 'go')).toMatchObject({ ok: false, after: 'wait… now\n' });
});

test('R-TOOL-25: a file that changed since it was read is refused until it is read again', async () => {
  const bench = await toolBench();
  await bench.put('f.txt', 'a\nb\n');
  await bench.use(read, { path: 'f.txt' });
  await bench.put('f.txt', 'a\nb\nc\n');
  const input = { path: 'f.txt', old_string: 'a', new_string: 'A' };
  expect((await bench.use(edit, input)).text).toContain('has changed since it was read');
  await bench.use(read, { path: 'f.txt' });
  expect((await bench.use(edit, input)).ok).toBe(true);
  expect((await bench.use(edit, { ...input, old_string: 'b', new_string: 'B' })).ok).toBe(true);
});

test('R-TOOL-26: encoding, mark, mode and every byte around the place are kept', async () => {
  const bench = await toolBench();
  const gbk = iconv.encode('第一行：你好\r\n第二行：世界\r\n', 'gb18030');
  const { bytes } = await edited(gbk, '你好', '再见', bench);
  expect(bytes).toEqual(iconv.encode('第一行：再见\r\n第二行：世界\r\n', 'gb18030'));
  const wide = iconv.encode('\uFEFF你好 a\n', 'utf-16le');
  expect((await edited(wide, '你好', '再见')).bytes).toEqual(iconv.encode('\uFEFF再见 a\n', 'utf-16le'));
  await chmod(join(bench.cwd, 'f.txt'), 0o755);
  await edited('a', 'a', 'b', bench);
  expect((await stat(join(bench.cwd, 'f.txt'))).mode & 0o777).toBe(0o755);
});

test('R-TOOL-26: a file whose bytes would not survive is left alone', async () => {
  const broken = Buffer.concat([Buffer.from('你好世界你好世界\n'), Buffer.from([0xff, 0x0a])]);
  const { ok, bytes } = await edited(broken, '你好世界你好世界', 'x');
  expect({ ok, bytes }).toEqual({ ok: false, bytes: broken });
  expect((await edited(Buffer.from([0, 1, 2, 3]), 'x', 'y')).text).toContain('binary');
});

test('R-TOOL-26: replacement patterns in the new text mean nothing', async () => {
  expect((await edited('price\n', 'price', "$& $1 $$ $' $`")).after).toBe("$& $1 $$ $' $`\n");
});

test('R-TOOL-27: an edit that changes nothing, or of a file that is not there, says so', async () => {
  const bench = await toolBench();
  expect((await edited('a\n', 'a', 'a', bench)).text).toContain('nothing would change');
  expect((await bench.use(edit, { path: 'g.txt', old_string: 'a', new_string: 'b' })).text).toContain('not there');
  expect((await bench.use(edit, { path: '../g', old_string: 'a', new_string: 'b' })).text).toContain('outside');
});

test('R-TOOL-27: a long diff is cut', async () => {
  const { text } = await edited('a\n', 'a', Array.from({ length: 500 }, (_, at) => `${at}`).join('\n'));
  expect(text.split('\n').length).toBeLessThan(90);
  expect(text).toContain('lines of the diff left out');
});
