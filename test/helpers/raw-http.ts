import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends these lines as the head of a request, as no HTTP client would, and returns the head and body of the answer as they come. */
export async function rawHttp(port: number, lines: readonly string[]): Promise<{ status: number; text: string }> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  let text = '';
  try {
    for await (const chunk of socket) {
      text += chunk;
      // An upgraded connection stays open.
      if (text.startsWith('HTTP/1.1 101')) break;
    }
  } finally {
    socket.destroy();
  }
  return { status: Number(text.split(' ')[1] ?? 0), text };
}

/** The head of an upgrade for this name. */
export function upgradeHead(port: number, name: string): string[] {
  return [`GET /?agent=${name} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...upgradeFields];
}

/** What makes a request an upgrade to WebSocket. */
export const upgradeFields = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==',
];
