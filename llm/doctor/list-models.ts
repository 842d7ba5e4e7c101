import { isObject, parseJson, UpstreamError } from '../upstream/errors.ts';
import { carrierFor, type ProxySettings } from '../upstream/proxy.ts';

/** How long the list is waited for, ms. */
const PATIENCE = 15_000;

/** Longest list that is read, in characters. */
const LONGEST = 4_000_000;

/**
 * Names of the models that an endpoint lists at `/models`; undefined where it has no such list. Rejects with {@link UpstreamError} of
 * kind `auth` when it refuses the key, `server` when it cannot be reached, or with the signal's reason.
 */
export async function listModels(options: {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly loopback: boolean;
  readonly proxies?: ProxySettings | undefined;
  readonly signal: AbortSignal;
}): Promise<string[] | undefined> {
  const { baseURL, apiKey, loopback, proxies, signal } = options;
  const carrier = carrierFor(loopback, proxies);
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]);
  try {
    const headers = { accept: 'application/json', ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }) };
    const response = await carrier.fetch(`${baseURL}/models`, { headers, redirect: 'manual', signal: bounded });
    const text = (await response.text()).slice(0, LONGEST);
    if (response.status === 401 || response.status === 403)
      throw new UpstreamError('auth', `status ${response.status}`, { status: response.status });
    return response.ok ? namesIn(parseJson(text)) : undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UpstreamError) throw error;
    throw new UpstreamError('server', 'it does not come', { cause: error });
  } finally {
    await carrier.close();
  }
}

function namesIn(body: unknown): string[] | undefined {
  const list = isObject(body) ? (body.data ?? body.models) : body;
  if (!Array.isArray(list)) return undefined;
  const names = list.flatMap((one) => (isObject(one) ? [one.id ?? one.name] : [one]));
  return names.filter((name) => typeof name === 'string');
}
