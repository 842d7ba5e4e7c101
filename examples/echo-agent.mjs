#!/usr/bin/env node
// A role agent with nothing but a WebSocket. It joins a hub as a translator and answers every task of that role:
//   npc-crew hub                  then, in a second terminal:   node examples/echo-agent.mjs ws://127.0.0.1:8765
// To write your own, replace `work` and the role. docs/protocol.md explains the frames.
import WebSocket from 'ws';

const [url = 'ws://127.0.0.1:8765', name = 'translator-1', role = 'translator'] = process.argv.slice(2);

/** The agent's real job: a goal in, a result out. This one only says the goal again. */
async function work({ goal }) {
  const artifacts = [{ kind: 'text', title: 'translation', text: goal }];
  return { status: 'success', summary: `As ${role} I heard: ${goal}`.slice(0, 2000), artifacts, issues: [] };
}

// A hub that asks for a token keeps it in the file `token` of its state folder: NPC_HUB_TOKEN=$(cat FILE)
const { NPC_HUB_TOKEN: token } = process.env;
const headers = token ? { authorization: `Bearer ${token}` } : {};
const socket = new WebSocket(`${url}/?agent=${name}&v=1`, { headers });
const send = (type, more) =>
  socket.send(JSON.stringify({ v: 1, type, from: name, to: 'hub', task_id: '', payload: {}, ...more }));

// The first frame, within 10 s: it says which tasks to offer, and how many at once.
socket.on('open', () => send('hello', { payload: { v: 1, roles: [role], max_concurrency: 1 } }));

socket.on('message', async (data) => {
  const { type, task_id, attempt, seq, payload } = JSON.parse(data);
  if (type === 'welcome') console.error(`${name} is on the hub as ${role}`);
  if (type === 'error') console.error(`refused: ${payload.message} (${payload.code})`);
  // An offer is taken within 15 s. Every frame of a task carries its attempt: it tells you from those who had it before.
  if (type === 'task.assign') send('task.accept', { task_id, attempt });
  // What has a number is kept for you until you say that you have it.
  if (seq) send('ack', { payload: { seq } });
  // Work of minutes also sends `task.progress` whenever it gets on: after 5 min of silence the hub asks somebody else.
  if (type === 'task.assign') send('task.result', { task_id, attempt, payload: await work(payload) });
});
socket.on('error', (error) => console.error(error.message));
socket.on('close', (code, reason) => console.error(`the hub is gone: ${code} ${reason}`));
process.on('SIGTERM', () => socket.close(1000));
