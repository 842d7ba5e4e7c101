import type { Variant } from '../variants/relay.ts';
import { openLevelOneLink } from './level-one-link.ts';
import type { Link, LinkOptions } from './link.ts';
import { openPlainLink } from './plain-link.ts';
import { openSocketIoLink } from './socket-io-link.ts';

/** Connects as a client of this variant does. */
export function openLink(variant: Variant, options: LinkOptions): Promise<Link> {
  switch (variant) {
    case 'original':
    case 'raw':
    case 'level-0':
      return openPlainLink(options);
    case 'level-1':
      return openLevelOneLink(options);
    case 'socket.io':
    case 'socket.io-recovery':
      return openSocketIoLink(options);
    default:
      return variant satisfies never;
  }
}
