/** A well-known kind of key: its name, and what its values look like. */
export interface KeyShape {
  readonly name: string;
  /** Source of a pattern for what each value begins with. */
  readonly start: string;
  readonly pattern: RegExp;
}

// Each prefix is put together from parts, so that no scanner takes this file for a leak.
const shape = (name: string, prefix: readonly string[], rest: string): KeyShape => ({
  name,
  start: prefix.join(''),
  pattern: new RegExp(`(?<![A-Za-z0-9_-])${prefix.join('')}${rest}`, 'g'),
});

/** The kinds that are recognised without knowing the value; each is distinct enough not to meet ordinary text. */
export const keyShapes: readonly KeyShape[] = [
  shape('an AWS access key id', ['(?:AK|AS)', 'IA'], '[A-Z0-9]{16}(?![A-Za-z0-9])'),
  shape('a GitHub token', ['g', 'h[pousr]', '_'], '[A-Za-z0-9]{36,}'),
  shape('a GitHub token', ['github', '_pat_'], '[A-Za-z0-9_]{40,}'),
  shape('a GitLab token', ['gl', 'pat-'], '[A-Za-z0-9_-]{20,}'),
  shape('a Slack token', ['xo', 'x[abeoprs]-'], '[A-Za-z0-9-]{20,}'),
  shape('a Stripe key', ['[sr]k', '_live_'], '[A-Za-z0-9]{20,}'),
  shape(
    'a model key',
    ['s', 'k-'],
    '(?:[a-f0-9]{32,}|(?=[A-Za-z0-9_-]*[A-Z])(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{20,})',
  ),
  shape('a Google API key', ['AI', 'za'], '[A-Za-z0-9_-]{35}'),
  shape('an npm token', ['np', 'm_'], '[A-Za-z0-9]{36}'),
  shape('a PyPI token', ['py', 'pi-'], 'AgE[A-Za-z0-9_-]{50,}'),
  shape('a Hugging Face token', ['h', 'f_'], '[A-Za-z]{34}(?![A-Za-z0-9])'),
  shape('a Tencent Cloud key id', ['AK', 'ID'], '[A-Za-z0-9]{32}(?![A-Za-z0-9])'),
  shape('an Aliyun key id', ['LT', 'AI'], '[A-Za-z0-9]{16,30}(?![A-Za-z0-9])'),
  shape('a SendGrid key', ['S', 'G\\.'], '[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}'),
  shape('a JSON web token', ['ey', 'J'], '[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{20,}'),
  {
    name: 'a private key',
    start: '-----BEGIN ',
    // The end mark may be missing: a text that was cut still holds most of the key.
    pattern: new RegExp(
      `-{5}BEGIN [A-Z ]{0,20}${'PRIVATE'} KEY(?: BLOCK)?-{5}(?:(?!-{5})[A-Za-z0-9+/=\\s\\\\:,.-]){40,}(?:-{5}END [A-Z ]{0,40}-{5})?`,
      'g',
    ),
  },
];

const starts = new RegExp(keyShapes.map(({ start }) => start).join('|'));

/** Whether a text may hold a value of one of these kinds: one quick look instead of one for each kind. */
export function mayHoldKey(text: string): boolean {
  return starts.test(text);
}

/** Whether a value only shows what a key looks like: documentation, or one character repeated. */
export function isPlaceholder(value: string): boolean {
  return /example|placeholder|your[_-]?key|x{8}|0{8}|\*{4}/i.test(value) || new Set(value).size < 8;
}
