#!/usr/bin/env node
// A role agent with nothing but a WebSocket. It joins a hub as a translator and answers every task of that role:
//   npc-crew hub                  then, in a second terminal:   node examples/echo-agent.mjs ws://127.0.0.1:8765
// To write your own, replace `work` and the role. docs/protocol.md explains the frames.
import { randomUUID } from 'node:crypto';
import WebSocket from 'ws';

const [url = 'ws://127.0.0.1:8765', name = 'translator-1', role = 'translator'] = process.argv.slice(2);

/** The agent's real job: a goal in, a result out. This one only says the goal again. `signal` is aborted when the task is cancelled. */
async function work({ goal }, _signal) {
  const artifacts = [{ kind: 'text', title: 'translation', text: goal }];
  return { status: 'success', summary: `As ${role} I heard: ${goal}`.slice(0, 2000), artifacts, issues: [] };
}

// A hub that asks for a token keeps it in the file `token` of its state folder: NPC_HUB_TOKEN=$(cat FILE)
const { NPC_HUB_TOKEN: token } = process.env;
const headers = token ? { authorization: `Bearer ${token}` } : {};

let socket;
let welcome; // the last one; its session is what we come back to
let seq = 0; // the highest number that we are done with
let sent = []; // what the hub has not accepted yet, in order
let accepted = 0; // frames of this connection that it has
let failures = 0; // connections since the last welcome
const working = new Map(); // task id → what stops the work on it

/** Sends now, or as soon as there is a connection; again on the next one, with the same id, when the hub did not accept it. */
function send(type, more) {
  const frame = { v: 1, id: randomUUID(), type, from: name, to: 'hub', task_id: '', payload: {}, ...more };
  sent.push(frame);
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
}

/** The first frame, within 10 s: which tasks to offer, how many at once, and where we were. Then what was not accepted. */
function hello() {
  const { session, resume_token, epoch } = welcome ?? {};
  const again = sent.filter(({ type }) => type !== 'hello' && type !== 'ack');
  [sent, accepted] = [[], 0];
  const resume = welcome && { resume: { session, resume_token, epoch, seq } };
  send('hello', { payload: { v: 1, roles: [role], max_concurrency: 1, ...resume } });
  for (const frame of again) send(frame.type, frame);
}

function welcomed({ payload }) {
  console.error(`${name} is on the hub as ${role} (${payload.resume.state})`);
  [welcome, failures] = [payload, 0];
  // After `recovered` all goes on where it was; else this is where the numbers begin.
  if (payload.resume.state !== 'recovered') seq = payload.seq;
  // What the hub thinks we do and we do not, as after a restart: somebody else shall do it.
  for (const { task_id, attempt } of payload.tasks) {
    const isEnded = sent.some((frame) => frame.type === 'task.result' && frame.task_id === task_id);
    if (!working.has(task_id) && !isEnded) send('task.release', { task_id, attempt });
  }
}

/** Every frame of a task carries its attempt: it tells you from those who had the task before. */
async function doTask({ task_id, attempt, payload }) {
  const stop = new AbortController();
  working.set(task_id, stop);
  send('task.accept', { task_id, attempt }); // within 15 s
  // Work of minutes also sends `task.progress` whenever it gets on: after 5 min of silence the hub asks somebody else.
  const result = await work(payload, stop.signal).catch(({ message }) => ({
    ...{ status: 'failed', summary: message.slice(0, 2000), artifacts: [] },
    issues: [{ severity: 'blocking', message }],
  }));
  if (working.get(task_id) === stop) working.delete(task_id);
  send('task.result', { task_id, attempt, payload: result });
}

function take(frame) {
  if (frame.seq !== undefined) {
    // What has a number is kept for you until you say that you have it; it may come again after a lost connection.
    if (frame.seq <= seq) return;
    seq = frame.seq;
    send('ack', { payload: { seq } });
  }
  if (frame.type === 'welcome') welcomed(frame);
  if (frame.type === 'accepted') {
    sent.splice(0, frame.payload.upto - accepted);
    accepted = frame.payload.upto;
  }
  if (frame.type === 'error') console.error(`refused: ${frame.payload.message} (${frame.payload.code})`);
  if (frame.type === 'task.assign') void doTask(frame);
  if (frame.type === 'task.cancel') working.get(frame.task_id)?.abort();
}

/** One connection; a lost one is followed by the next, after a random pause that grows. */
function connect() {
  let reason = '';
  let isFinal = false;
  let isQuiet = false;
  const heard = () => (isQuiet = false);
  socket = new WebSocket(`${url}/?agent=${name}&v=1`, { headers, handshakeTimeout: 10_000 });
  // The hub pings, and `ws` answers. A hub that is silent, even when pinged, is gone: the network did not say so.
  const life = setInterval(() => {
    if (isQuiet) return socket.terminate();
    isQuiet = true;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, 30_000);
  socket.on('open', hello).on('ping', heard).on('pong', heard);
  socket.on('message', (data) => {
    heard();
    take(JSON.parse(data));
  });
  // A hub that does not let us in says why in the body.
  socket.on('unexpected-response', async (_request, response) => {
    const body = await response.toArray().then((parts) => Buffer.concat(parts).toString());
    reason = `HTTP ${response.statusCode} ${body.trim()}`;
    isFinal = response.statusCode >= 400 && response.statusCode < 500 && response.statusCode !== 429;
    socket.terminate();
  });
  socket.on('error', (error) => (reason ||= error.message));
  socket.on('close', (code, text) => {
    clearInterval(life);
    // From 4500 on coming back is of no use, and where no hub ever was there is nothing to come back to.
    if (isFinal || code >= 4500 || !welcome) {
      console.error(`${name} could not stay on the hub at ${url}: ${reason || `${code} ${text}`}`);
      process.exit(1);
    }
    const pause = Math.random() * Math.min(15_000, 500 * 2 ** failures);
    failures += 1;
    console.error(`the hub is gone: ${reason || `${code} ${text}`}; trying again in ${Math.round(pause)} ms`);
    setTimeout(connect, pause);
  });
}

connect();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // `bye` lets the hub give our tasks to others at once.
    socket.removeAllListeners('close').once('close', () => process.exit(0));
    if (socket.readyState === WebSocket.OPEN) send('bye');
    socket.close(1000);
    setTimeout(() => process.exit(0), 1000);
  });
}
