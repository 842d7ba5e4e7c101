/** How much of an error's body is read, in characters. */
const ERROR_BODY = 65_536;

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

/** As much of the body as comes; one that breaks off does not hide the status. */
async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > ERROR_BODY) break;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return text;
}
