import { type Refusal, refuse } from '../refusal.ts';

/** What tells one endpoint from another. */
interface Place {
  readonly method: 'GET' | 'DELETE';
  readonly path: string;
}

/** Finds the endpoint for a method and a path, with what stands for its `:id`; else says what would have been right. */
export function match<P extends Place>(
  places: readonly P[],
  method: string,
  path: string,
): { readonly place: P; readonly id: string } | Refusal {
  const here = places.flatMap((place) => {
    const id = idIn(place.path, path);
    return id === undefined ? [] : [{ place, id }];
  });
  const wanted = method === 'HEAD' ? 'GET' : method;
  const found = here.find(({ place }) => place.method === wanted);
  if (found !== undefined) return found;
  if (here.length > 0) {
    const allow = here.map(({ place }) => (place.method === 'GET' ? 'GET, HEAD' : place.method)).join(', ');
    return refuse(405, 'method_not_allowed', `here goes ${allow}`, { allow });
  }
  if (path === '/ws') return refuse(426, 'upgrade_required', 'agents connect here by WebSocket');
  const paths = new Set(places.map((place) => place.path.replace(':id', 'ID')));
  return refuse(404, 'not_found', `nothing is here; there are ${[...paths].join(' ')}`);
}

/** What stands for `:id`; empty when the pattern has none, undefined when it is another path. */
function idIn(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split(':id');
  if (after === undefined) return path === pattern ? '' : undefined;
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const id = path.slice(before.length, path.length - after.length);
  return id === '' || id.includes('/') ? undefined : decoded(id);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
