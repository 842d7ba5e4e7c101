import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Artifact, CloseCode, ErrorCode, frames, Issue, TaskResultPayload } from '../protocol/index.ts';
import { protocolSchema } from './protocol-schema.ts';

const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');

test('R-CLIENT-40: the committed JSON Schema is the one of the code', async () => {
  expect(await read('../docs/protocol.schema.json'), 'run `npm run schema`').toBe(protocolSchema());
});

test('R-CLIENT-40: every reference in the JSON Schema leads somewhere, and every frame type has its own', () => {
  const schema = JSON.parse(protocolSchema());
  const defined = Object.keys(schema.$defs);
  const referred = new Set([...protocolSchema().matchAll(/"\$ref": "#\/\$defs\/([^"]+)"/g)].map(([, id]) => id));
  expect([...referred].filter((id) => !defined.includes(id as string))).toEqual([]);
  expect(schema.oneOf.map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1))).toEqual(Object.keys(frames));
  expect(schema.$defs['task.accept']).toMatchObject({
    allOf: [{ $ref: '#/$defs/Envelope' }],
    properties: { type: { const: 'task.accept' } },
    required: ['type'],
  });
});

test('R-CLIENT-41: the page for writers of agents names every frame type, code, close code and shape as it is', async () => {
  const page = await read('../docs/protocol.md');
  const missing = [...Object.keys(frames), ...ErrorCode.options, ...Object.values(CloseCode).map(String)].filter(
    (word) => !new RegExp(`(^|[^\\w.])${word.replace('.', '\\.')}($|[^\\w])`, 'm').test(page),
  );
  expect(missing).toEqual([]);
  for (const shape of [Artifact, Issue, TaskResultPayload]) {
    for (const key of Object.keys(shape.shape)) expect(page).toContain(key);
  }
  for (const kind of Artifact.shape.kind.options) expect(page).toMatch(new RegExp(`\\b${kind}\\b`));
});

test('R-CLIENT-41: the frames on that page are whole ones, and say nothing that the schema does not know', async () => {
  const page = await read('../docs/protocol.md');
  const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text as string));
  const shown = ['hello', 'welcome', 'accepted', 'error', 'task.assign', 'task.result'];
  expect(examples.map(({ type }) => type)).toEqual(shown);
  for (const frame of examples) {
    const parsed = frames[frame.type as keyof typeof frames].safeParse(frame);
    expect(parsed.error && z.prettifyError(parsed.error)).toBeUndefined();
    // what a schema does not know of a payload it leaves out
    expect(parsed.data).toMatchObject(frame);
  }
});
