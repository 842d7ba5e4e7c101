import { z } from 'zod';
import { envelope } from '../protocol/envelope.ts';
import {
  AgentRow,
  Artifact,
  type FrameType,
  frames,
  Issue,
  isFrameType,
  TaskOptions,
  TaskPayload,
  TaskResultPayload,
  TaskRow,
} from '../protocol/index.ts';

/** Who sends a frame and what for, one line each, for readers of the schema. */
const purposes: Record<FrameType, string> = {
  hello: 'Client to hub. Turns level 1 on; the first frame of a connection.',
  welcome: 'Hub to client. Answers hello with the session, the limits and the clocks.',
  ping: 'Client to hub. Asks for a pong with the same payload.',
  pong: 'Hub to client. Answers ping.',
  route: 'Both ways. A plain message to another agent.',
  accepted: 'Hub to client. The first `upto` frames of this connection are logged for good, hello being number 1.',
  error: 'Hub to client. The frame whose id is `ref` was refused.',
  watch: 'Client to hub. Asks for logged frames as they come, each as an event.',
  event: 'Hub to client. One logged frame for a watcher.',
  ack: 'Client to hub. Mailbox frames up to `seq` are dealt with and need not come again.',
  register_task: 'Client to hub. Makes a task row that the sender owns.',
  'task.assign': 'Owner to hub (`to` is a name or role:R), then hub to worker with the attempt.',
  'task.accept': 'Worker to hub. Takes the offered task.',
  'task.decline': 'Worker to hub. Does not take it; uses no attempt.',
  'task.progress': 'Worker to hub. A sign of life.',
  lease: 'Hub to worker. How long silence is allowed from now on.',
  'task.input': 'Worker to hub, relayed to the owner. A question.',
  'task.answer': 'Owner to hub, relayed to the worker. The answer; `ref` is the id of the question.',
  'task.result': 'Worker to hub, relayed to the owner. Ends the task.',
  'task.release': 'Worker to hub. Gives the task back.',
  'task.status': 'Hub to owner. The task changed without the owner having caused it.',
  'task.event': 'Worker to hub. Something that happened, for the log.',
  'task.cancel': 'Owner to hub, relayed to the worker.',
  bye: 'Both ways. An orderly end of the connection.',
  who: 'Both ways. Asks who is connected; the answer has `agents`.',
  tasks: 'Both ways. Asks for the task table; the answer has `tasks`.',
  log: 'Both ways. Asks for a page of the log; the answer has `frames`, and `next` when there is more.',
};

/** JSON Schema (2020-12) of every frame as its sender may write it; the same text for the same protocol. */
export function protocolSchema(): string {
  const names = z.registry<{ id: string; description?: string }>();
  names.add(envelope, { id: 'Envelope', description: 'What every frame has; further keys are relayed untouched.' });
  const shapes = { AgentRow, Artifact, Issue, TaskOptions, TaskPayload, TaskResultPayload, TaskRow };
  for (const [id, shape] of Object.entries(shapes)) names.add(shape, { id });
  for (const [type, frame] of Object.entries(frames)) {
    names.add(frame, { id: type, description: purposes[type as FrameType] });
  }
  const all = z.toJSONSchema(z.union(Object.values(frames)), { metadata: names, io: 'input' });
  const definitions = Object.entries(all.$defs ?? {}).map(([id, schema]) => [
    id,
    isFrameType(id) ? onEnvelope(schema) : schema,
  ]);
  const schema = {
    $schema: all.$schema,
    title: 'npc-crew hub protocol, version 1: one frame',
    oneOf: all.anyOf,
    $defs: Object.fromEntries(definitions),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** A frame's schema without the keys that all frames share. */
function onEnvelope({ description, properties = {}, required = [] }: z.core.JSONSchema.BaseSchema): unknown {
  const { type, payload } = properties;
  return {
    description,
    allOf: [{ $ref: '#/$defs/Envelope' }],
    properties: { type, payload },
    required: ['type', ...(required.includes('payload') ? ['payload'] : [])],
  };
}
