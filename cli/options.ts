import { InvalidArgumentError } from 'commander';

/** Reads a port number, 0 included; commander tells the person what was wrong. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is 0-65535.');
  return port;
}
