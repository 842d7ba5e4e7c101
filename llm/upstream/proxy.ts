import type { Dispatcher } from 'undici';

/** The proxies that an environment names, as undici reads them. */
export interface ProxySettings {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  /** Hosts that are reached directly, with commas between. */
  readonly noProxy?: string | undefined;
  /** Node's own `fetch` follows the environment too, so that an address of this machine needs another. */
  readonly followedByNode?: boolean | undefined;
}

/** Sends requests to one endpoint. */
export interface Carrier {
  readonly fetch: typeof fetch;
  /** Ends the connections that were kept open. */
  close(): Promise<void>;
}

/** How requests reach an endpoint: through the proxy that the settings name for it; an address of this machine never. */
export function carrierFor(loopback: boolean, proxies: ProxySettings = {}): Carrier {
  const proxied = !loopback && (proxies.httpProxy !== undefined || proxies.httpsProxy !== undefined);
  // the package costs a start some time, and most starts need none
  if (!proxied && !(loopback && proxies.followedByNode))
    return { fetch: (...args) => fetch(...args), close: async () => {} };
  let opened: Promise<{ fetch: typeof fetch; dispatcher: Dispatcher }> | undefined;
  return {
    async fetch(url, init) {
      opened ??= open(loopback, proxies);
      const { fetch: send, dispatcher } = await opened;
      return send(url, { ...init, dispatcher } as object);
    },
    async close() {
      await (await opened)?.dispatcher.destroy();
    },
  };
}

async function open(loopback: boolean, { httpProxy, httpsProxy, noProxy }: ProxySettings) {
  const undici = await import('undici');
  const dispatcher = loopback
    ? new undici.Agent()
    : new undici.EnvHttpProxyAgent({
        ...{ httpProxy: httpProxy ?? '', httpsProxy: httpsProxy ?? '', noProxy: noProxy ?? '' },
        // the watchdog decides how long an endpoint may be silent
        ...{ headersTimeout: 0, bodyTimeout: 0 },
      });
  // of one package with the dispatcher: that of Node speaks another version's language
  return { fetch: undici.fetch as unknown as typeof fetch, dispatcher };
}
