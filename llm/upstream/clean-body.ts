import type { ChatBody } from '../chat-body.ts';

/** The body with every text of its messages masked and made well-formed; pictures in data URLs are passed on as they are. */
export function cleanBody(body: ChatBody, mask: (text: string) => string): ChatBody {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return value.startsWith('data:') ? value : mask(wellFormed(value));
    if (Array.isArray(value)) return value.map(clean);
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clean(inner)]));
    }
    return value;
  };
  return { ...body, messages: clean(body.messages) as ChatBody['messages'] };
}

/** Half a surrogate pair makes some providers refuse the whole request. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}
