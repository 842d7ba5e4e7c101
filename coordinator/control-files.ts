import { posix } from 'node:path';

/** Files that steer git itself: what it ignores, converts, fetches. `.gitkeep` and folders such as `.github` steer other programs. */
const controlFiles = ['.gitattributes', '.gitmodules', '.gitignore', '.gitconfig'] as const;

/** How a request speaks of a control file without writing its name. */
const spokenOf: readonly { readonly file: (typeof controlFiles)[number]; readonly form: RegExp }[] = [
  { file: '.gitignore', form: /git\s?ignore|\bignored? (files?|folders?|director(y|ies)|by git)|忽略/i },
  { file: '.gitattributes', form: /git\s?attributes|\bline endings?\b|\blfs\b|换行符/i },
  { file: '.gitmodules', form: /git\s?modules|\bsubmodules?\b|子模块/i },
  { file: '.gitconfig', form: /\.gitconfig/i },
];

export function isControlFile(path: string): boolean {
  return (controlFiles as readonly string[]).includes(posix.basename(path).toLowerCase());
}

/** The control files that a request asks to change, by their names or by what they are for. */
export function controlFilesNamedIn(request: string): string[] {
  return spokenOf.filter(({ form }) => form.test(request)).map(({ file }) => file);
}
