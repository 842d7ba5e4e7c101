/** Both clients of a relay in one process. */
import { answer } from '../answer.ts';
import { echo, flood } from './exchange.ts';
import { frameSource } from './frames.ts';
import type { Link } from './links/link.ts';
import { openLink } from './links/open-link.ts';
import type { Variant } from './variants/relay.ts';

let a: Link;
let b: Link;

const handlers = {
  /** Connects both; `frames` is how many are built beforehand for each. */
  connect: async ({ variant, port, bytes, frames }: ConnectSettings) => {
    const levelOne = variant === 'level-1';
    const open = (name: string, other: string) =>
      openLink(variant, {
        port,
        name,
        bytes,
        next: frameSource({ from: name, to: other, bytes, levelOne }, frames),
      });
    a = await open('a', 'b');
    b = await open('b', 'a');
  },
  flood: (frames: number) => flood(a, b, frames),
  echo: (settings: { window: number; ms: number }) => echo(a, b, settings),
};
export type ClientsHandlers = typeof handlers;

interface ConnectSettings {
  readonly variant: Variant;
  readonly port: number;
  readonly bytes: number;
  readonly frames: number;
}

answer(handlers, () => {
  a?.close();
  b?.close();
});
