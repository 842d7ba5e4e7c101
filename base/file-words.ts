import { messageOf } from './errors.ts';

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of this path is a file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOSPC: 'the disk is full',
};

/** Why a file cannot be used, in words; what is rare as the system says it. */
export function fileWords(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return (typeof code === 'string' ? words[code] : undefined) ?? messageOf(error);
}
