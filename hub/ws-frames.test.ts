import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { FrameBuffer } from './ws-frames.ts';

const sizes = [0, 1, 124, 125, 126, 127, 511, 512, 65_535, 65_536, 65_537, 200_000];

/** What a real client hears of the frames, and how the connection ended. */
async function heard(frames: FrameBuffer, after: (socket: WebSocket) => void): Promise<string[]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request) => {
    for (const chunk of frames.take()) request.socket.write(chunk);
    after(socket);
  });
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const said: string[] = [];
  client.on('message', (data, isBinary) => said.push(`${isBinary ? 'binary ' : ''}${String(data)}`));
  client.on('ping', (data) => said.push(`ping ${String(data)}`));
  const [code, reason] = await once(client, 'close');
  said.push(`close ${code} ${String(reason)}`);
  server.close();
  return said;
}

test('R-HUB-50: frames of every length of header, built by the hub, arrive whole and in order, and what ws says comes after them', async () => {
  const frames = new FrameBuffer();
  const texts = sizes.map((size) => 'x'.repeat(size));
  for (const text of texts) frames.text(text);
  const said = await heard(frames, (socket) => {
    socket.ping('p');
    socket.close(4000, 'shutdown');
  });
  expect(said).toEqual([...texts, 'ping p', 'close 4000 shutdown']);
});

test('R-HUB-50: keys are added to a body of any length without reading it', async () => {
  const frames = new FrameBuffer();
  const bodies = [...sizes, 65_500, 65_520].map((size) => ({ a: 'ü€😀'.repeat(size / 4) }));
  for (const body of bodies) frames.around('', Buffer.from(JSON.stringify(body)), ',"lsn":7}');
  frames.around('{"frame":', Buffer.from('{"a":1}'), ',"lsn":8}}');
  const said = await heard(frames, (socket) => socket.close(1000));
  expect(said.slice(0, -2).map((text) => JSON.parse(text))).toEqual(bodies.map((body) => ({ ...body, lsn: 7 })));
  expect(said.at(-2)).toBe('{"frame":{"a":1,"lsn":8}}');
});

test('R-HUB-50: ten thousand small frames are few buffers, their bytes are counted, and the memory that is left over is little', () => {
  const frames = new FrameBuffer();
  for (let index = 0; index < 10_000; index += 1) frames.text(`frame ${index} ${'ü'.repeat(index % 200)}`);
  const { bytes } = frames;
  const chunks = frames.take();
  expect(chunks.reduce((sum, { length }) => sum + length, 0)).toBe(bytes);
  expect(chunks.length).toBeLessThan(bytes / 40_000);
  expect(frames.bytes).toBe(0);
  expect(frames.take()).toEqual([]);
  frames.text('one');
  expect(frames.take()[0]?.buffer.byteLength).toBeLessThanOrEqual(64 * 1024);
  frames.text('two');
  // Small ones share a slab of Node's.
  expect(frames.take()[0]?.buffer.byteLength).toBeLessThanOrEqual(8 * 1024);
});

test('R-HUB-50: a large body is sent from where it lies, unless it would hold much more memory than its own', () => {
  const frames = new FrameBuffer();
  const large = (room: number) => Buffer.alloc(room).subarray(0, 20_000);
  const [kept, copied] = [large(90_000), large(110_000)];
  for (const body of [kept, copied, kept]) frames.around('', body, ',"lsn":1}');
  const { bytes } = frames;
  const chunks = frames.take();
  expect(chunks.reduce((sum, { length }) => sum + length, 0)).toBe(bytes);
  expect(chunks.filter(({ buffer }) => buffer === kept.buffer)).toHaveLength(2);
  expect(chunks.filter(({ buffer }) => buffer === copied.buffer)).toHaveLength(0);
});
