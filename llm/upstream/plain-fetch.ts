/** How much of an error's body is read, in characters. */
const ERROR_BODY = 65_536;

/** How long an error's body is waited for, ms: the status is what counts. */
const ERROR_BODY_MS = 3000;

/**
 * What the SDK calls instead of `fetch`: only headers of ours travel (the SDK would add what it finds in the
 * environment, meant for another host), redirects are not followed with a key in hand, and an error keeps its whole body.
 */
export async function plainFetch(
  url: string | URL | Request,
  init: RequestInit | undefined,
  { apiKey, send }: { apiKey: string; send: typeof fetch },
): Promise<Response> {
  const given = new Headers(init?.headers);
  const headers = new Headers({ 'user-agent': 'npc-crew' });
  for (const [name, value] of given) {
    if (name === 'accept' || name === 'content-type' || name.startsWith('x-npc-')) headers.set(name, value);
  }
  if (apiKey !== '') headers.set('authorization', `Bearer ${apiKey}`);
  const response = await send(url, { ...init, headers, redirect: 'manual' });
  if (response.ok) return response;
  throw new HttpFailure(response.status, response.headers, await beginningOf(response));
}

/** An answer with an error status; internal, since the SDK would throw most of its body away. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;

  constructor(status: number, headers: Headers, body: string) {
    super('the answer has an error status');
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** A body that is over cannot be cancelled, which is what was wanted. */
function ignoreClosed(): void {}

/** As much of the body as comes in a moment; one that breaks off does not hide the status. */
async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  const reader = response.body?.getReader();
  // some say the status and then nothing more
  const late = setTimeout(() => void reader?.cancel().catch(ignoreClosed), ERROR_BODY_MS);
  try {
    while (reader && text.length <= ERROR_BODY) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  } finally {
    clearTimeout(late);
    reader?.cancel().catch(ignoreClosed);
  }
  return text;
}
