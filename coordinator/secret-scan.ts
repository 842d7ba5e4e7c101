import type { Masker } from '../base/mask.ts';

/**
 * What kind of secret a file's new content brings in, or undefined. Values that its old content held already do not count: they are
 * public by now, and the file must stay changeable.
 */
export function findNewSecret(
  masker: Masker,
  file: { readonly path: string; readonly before: Buffer | undefined; readonly after: Buffer },
): string | undefined {
  const before = file.before?.toString('utf8') ?? '';
  const texts = [file.path, file.after.toString('utf8')];
  // UTF-16 is UTF-8 with zero bytes between, as far as keys go
  if (file.after.includes(0)) texts.push(file.after.toString('latin1').replaceAll('\0', ''));
  return texts.flatMap((text) => masker.find(text)).find((hit) => !before.includes(hit.value))?.kind;
}
