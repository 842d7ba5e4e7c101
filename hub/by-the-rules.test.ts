import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { silentLog } from '../base/log.ts';
import { testFolder } from '../test/helpers/hub.ts';
import { startTcpProxy } from '../test/helpers/tcp-proxy.ts';
import { startHub } from './index.ts';

interface Message {
  readonly id: string;
  readonly payload: number;
}

/** A client that knows nothing but the rules of docs/protocol.md: it counts, repeats, acknowledges, resumes. */
class PlainClient {
  readonly heard: number[] = [];
  readonly gaps: unknown[] = [];
  #unaccepted: (Message & { number: number })[] = [];
  #resume: { session: string; resume_token: string; epoch: string } | undefined;
  #seq = 0;
  #sinceAck = 0;
  #sent = 0;
  /** The hub knows it on this connection. */
  welcomed = false;
  #socket: WebSocket | undefined;
  #ended = false;
  readonly #url: string;
  readonly #name: string;
  readonly #peer: string;

  constructor(url: string, name: string, peer: string) {
    this.#url = url;
    this.#name = name;
    this.#peer = peer;
    this.#connect();
  }

  get pending(): number {
    return this.#unaccepted.length;
  }

  say(payload: number): void {
    const message = { id: `${this.#name}-${payload}`, payload, number: 0 };
    this.#unaccepted.push(message);
    if (this.welcomed) message.number = this.#route(message);
  }

  end(): void {
    this.#ended = true;
    this.#socket?.terminate();
  }

  #connect(): void {
    if (this.#ended) return;
    const socket = new WebSocket(`${this.#url}/?agent=${this.#name}&v=1`);
    this.#socket = socket;
    this.#sent = 0;
    this.welcomed = false;
    socket.on('open', () => {
      const resume = this.#resume && { resume: { ...this.#resume, seq: this.#seq } };
      this.#send({ type: 'hello', to: 'hub', payload: { v: 1, ...resume } });
    });
    socket.on('message', (data) => this.#hear(JSON.parse(String(data))));
    socket.on('error', () => {}); // cuts are the point
    socket.on('close', () => setTimeout(() => this.#connect(), Math.random() * 20));
  }

  // biome-ignore lint/suspicious/noExplicitAny: a frame as it came
  #hear({ type, payload, seq, prev }: any): void {
    if (type === 'welcome') {
      const { session, resume_token, epoch, resume } = payload;
      this.#resume = { session, resume_token, epoch };
      this.#seq = Math.max(this.#seq, payload.seq);
      if (resume.state === 'gap') this.gaps.push(resume);
      this.welcomed = true;
      for (const message of this.#unaccepted) message.number = this.#route(message);
    }
    if (type === 'accepted') {
      this.#unaccepted = this.#unaccepted.filter(({ number }) => number === 0 || number > payload.upto);
    }
    if (seq === undefined || seq <= this.#seq) return;
    if (prev > this.#seq) this.gaps.push({ seq, prev, had: this.#seq });
    this.#seq = seq;
    this.heard.push(payload);
    this.#sinceAck += 1;
    if (this.#sinceAck < 16) return;
    this.#sinceAck = 0;
    this.#send({ type: 'ack', to: 'hub', payload: { seq } });
  }

  #route({ id, payload }: Message): number {
    return this.#send({ type: 'route', to: this.#peer, id, payload });
  }

  #send(frame: object): number {
    if (this.#socket?.readyState !== WebSocket.OPEN) return 0;
    this.#socket.send(JSON.stringify({ from: this.#name, task_id: '', ...frame }));
    this.#sent += 1;
    return this.#sent;
  }
}

test('R-HUB-68: clients that go by the page have each message once and in order, through cuts and restarts of the hub', async () => {
  const road = await startTcpProxy();
  onTestFinished(() => road.close());
  const database = join(await testFolder(), 'log.db');
  const limits = { rate: 0, upgradesPerSecond: 0 };
  const start = () => startHub({ port: 0, database, log: silentLog(), hostNames: [`127.0.0.1:${road.port}`], limits });
  let hub = await start();
  road.target = hub.port;
  const pair = [new PlainClient(road.url, 'a', 'b'), new PlainClient(road.url, 'b', 'a')] as const;
  onTestFinished(() => pair.forEach((client) => void client.end()));
  await expect.poll(() => pair.every(({ welcomed }) => welcomed)).toBe(true);
  const count = 600;
  for (let number = 0; number < count; number += 1) {
    for (const client of pair) client.say(number);
    if (number % 60 === 30) road.cut();
    if (number === 200 || number === 400) {
      await hub.close();
      hub = await start();
      road.target = hub.port;
    }
    if (number % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  onTestFinished(() => hub.close());
  const all = Array.from({ length: count }, (_, number) => number);
  for (const client of pair) await expect.poll(() => client.heard.length, { timeout: 15_000 }).toBe(count);
  for (const client of pair) {
    expect(client.heard).toEqual(all);
    expect(client.gaps).toEqual([]);
  }
  await expect.poll(() => pair.map(({ pending }) => pending), { timeout: 15_000 }).toEqual([0, 0]);
});
