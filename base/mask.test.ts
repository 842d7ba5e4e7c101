import { expect, test } from 'vitest';
import { createMasker } from './mask.ts';

// Put together here, so that no scanner takes the tests for a leak.
const secret = ['q7Rt', 'vZ&2', 'mK_9', 'x<Lp', '44'].join('');
const { mask, find, maskValue } = createMasker([secret]);

test('R-TREE-1: a secret is masked wherever it stands in a text', () => {
  expect(mask(`a=${secret} b=${secret}.`)).toBe('a=*** b=***.');
  expect(mask('nothing to hide')).toBe('nothing to hide');
});

test('R-TREE-1: a secret is masked URL-encoded, escaped as in JSON and HTML', () => {
  const encoded = encodeURIComponent(secret);
  const lower = encoded.replace(/%../g, (code) => code.toLowerCase());
  expect(mask(`https://cnb:${encoded}@host`)).toBe('https://cnb:***@host');
  expect(mask(lower)).toBe('***');
  expect(mask(`<i>${secret.replace('&', '&amp;').replace('<', '&lt;')}</i>`)).toBe('<i>***</i>');
  const quoted = createMasker(['with "quotes" and \\ in it']);
  expect(quoted.mask(JSON.stringify({ a: 'with "quotes" and \\ in it' }))).toBe('{"a":"***"}');
});

test('R-TREE-1: a secret is masked inside base64, at whatever offset it begins', () => {
  for (const before of ['', 'a', 'ab', 'cnb:', 'user:']) {
    for (const after of ['', '\n', 'tail']) {
      const text = Buffer.from(before + secret + after).toString('base64');
      const left = mask(`Authorization: Basic ${text}`);
      expect(left, `${before}|${after}`).toContain('***');
      const rest = Buffer.from(left.replace('Authorization: Basic ', '').replaceAll('***', ''), 'base64').toString();
      expect(rest).not.toContain(secret.slice(2, 8));
      expect(left.length).toBeLessThan('Authorization: Basic ***'.length + before.length * 2 + after.length * 2 + 8);
    }
  }
});

test('R-TREE-1: a secret broken over lines is masked, with indentation, backslashes or escaped breaks', () => {
  const [head, tail] = [secret.slice(0, 7), secret.slice(7)];
  for (const gap of ['\n', '\r\n', '\n    ', '\\\n', '  \n', '\\n']) {
    expect(mask(`key: ${head}${gap}${tail} end`), JSON.stringify(gap)).toBe('key: *** end');
  }
  const long = 'w'.repeat(3) + secret.repeat(6);
  const wrapped = Buffer.from(long).toString('base64').replace(/.{20}/g, '$&\n');
  expect(createMasker([long]).mask(wrapped)).not.toMatch(/[A-Za-z0-9]{6}/);
});

test('R-TREE-1: a secret of several lines is masked line by line, and by the strings inside it when it is JSON (A19)', () => {
  const inner = ['gh', 'x_', 'secretsecret'].join('');
  const json = createMasker([`{\n  "token": "${inner}",\n  "port": 8080\n}`]);
  expect(json.mask(`TOKEN is ${inner}`)).toBe('TOKEN is ***');
  expect(json.mask('port 8080 {')).toBe('port 8080 {');
  const lines = createMasker([`first-line-of-it\nnext: ${inner}\n`]);
  expect(lines.mask(`x first-line-of-it y ${inner}`)).toBe('x *** y ***');
});

test('R-TREE-1: a value too short to be a secret masks nothing', () => {
  expect(createMasker(['', ' ', 'main']).mask('the main branch')).toBe('the main branch');
});

test('R-TREE-1: well-known kinds of keys are masked without knowing them', () => {
  const random = 'Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6kM9n';
  const keys = [
    `AK${'IA'}Q3EGRIJ7N2XP5TWC`,
    `gh${'p_'}${random.slice(0, 36)}`,
    `s${'k-'}proj-${random}`,
    `s${'k-'}0f1e2d3c4b5a69788796a5b4c3d2e1f0`,
    `AI${'za'}${random.slice(0, 35)}`,
    `np${'m_'}${random.slice(0, 36)}`,
    `gl${'pat-'}${random.slice(0, 20)}`,
  ];
  for (const key of keys) expect(mask(`x "${key}" y`), key.slice(0, 4)).toBe('x "***" y');
  const pem = `-----BEGIN RSA PRIVATE ${'KEY'}-----\n${`${random}\n`.repeat(4)}-----END RSA PRIVATE ${'KEY'}-----`;
  expect(mask(`before\n${pem}\nafter`)).toBe('before\n***\nafter');
});

test('R-TREE-1: what only looks a little like a key stays', () => {
  const texts = [
    `AK${'IA'}IOSFODNN7EXAMPLE`,
    '<div class="sk-fading-circle sk-circle-with-a-long-name">',
    'task-1234567890abcdef1234567890abcdef',
    `gh${'p_'}${'x'.repeat(36)}`,
    `-----BEGIN PRIVATE ${'KEY'}-----\n...\n-----END PRIVATE ${'KEY'}-----\nand the text goes on for quite some while after it`,
    '0123456789abcdef0123456789abcdef01234567',
  ];
  for (const text of texts) expect(mask(text)).toBe(text);
});

test('R-TREE-1: the strings inside a JSON value are masked, its keys and numbers stay', () => {
  expect(maskValue({ a: [secret, 1, null], b: { c: `x${secret}` } })).toEqual({
    a: ['***', 1, null],
    b: { c: 'x***' },
  });
});

test('R-TREE-1: what was found is told by kind', () => {
  expect(find(`a ${secret}`)).toMatchObject([{ kind: 'a secret of this run', index: 2 }]);
});

test('R-TREE-1: a large text without secrets is masked quickly', () => {
  const text = `${' '.repeat(200_000)}${'lorem ipsum eyJ \n'.repeat(60_000)}`;
  const before = performance.now();
  expect(mask(text)).toBe(text);
  expect(performance.now() - before).toBeLessThan(2_000);
});
