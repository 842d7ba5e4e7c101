import { sendText } from './answer.ts';
import type { OpenEndpoint } from './endpoint.ts';

/** A page for people: what can be asked here. */
export function indexPage(endpoints: () => readonly { method: string; path: string; help: string }[]): OpenEndpoint {
  return {
    method: 'GET',
    path: '/',
    help: 'this page',
    answer: (response) => {
      const rows = endpoints().map(({ method, path, help }) => {
        return `${method.padEnd(7)}${path.replace(':id', 'ID').padEnd(24)}${help}\n`;
      });
      return sendText(
        response,
        `A hub of npc-crew. Agents connect here by WebSocket, at /?agent=NAME. By HTTP:\n\n${rows.join('')}`,
      );
    },
  };
}
