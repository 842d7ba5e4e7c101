import { isIPv4 } from 'node:net';

/** Whether only this machine reaches a hub that is bound to `host`; a name that merely looks like such an address does not count. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
