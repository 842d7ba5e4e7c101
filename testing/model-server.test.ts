import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import type { FaultSwitch } from './fault-plan.ts';
import { type ModelServerOptions, startModelServer } from './model-server.ts';
import { Fault, parseScript, readScript } from './script.ts';

async function server(options: ModelServerOptions) {
  const running = await startModelServer(options);
  onTestFinished(() => running.close());
  const root = running.url.replace('/v1', '');
  function ask(more: { role?: string; step?: number; stream?: boolean; usage?: boolean } = {}) {
    const { role, step = 0, stream = true, usage = true } = more;
    const place = role === undefined ? {} : { 'x-npc-role': role, 'x-npc-step': String(step) };
    const messages = [{ role: 'user', content: 'go' }];
    const body = { model: 'm', stream, messages, ...(usage ? { stream_options: { include_usage: true } } : {}) };
    return fetch(`${running.url}/chat/completions`, { method: 'POST', headers: place, body: JSON.stringify(body) });
  }
  return { ...running, root, ask };
}

function events(text: string): Record<string, unknown>[] {
  const data = text.split('\n\n').filter((event) => event !== '' && event !== 'data: [DONE]');
  return data.map((event) => JSON.parse(event.slice('data: '.length)));
}

const firstDeltas = (text: string) =>
  events(text).flatMap((event) => (event.choices as { delta: object }[])[0]?.delta ?? []);

test('R-FAKE-1: a step is streamed in deltas, with calls in pieces, usage and an end', async () => {
  const calls = [{ name: 'write', arguments: { path: 'a.txt', content: 'x'.repeat(40) } }];
  const { ask } = await server({
    script: { coder: ['one', { text: '二'.repeat(30), thinking: 'hm', calls, usage: { input: 7, output: 3 } }] },
  });
  const response = await ask({ role: 'coder', step: 1 });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const text = await response.text();
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  const deltas = firstDeltas(text) as { content?: string; reasoning_content?: string; tool_calls?: unknown[] }[];
  expect(deltas.map((delta) => delta.content ?? '').join('')).toBe('二'.repeat(30));
  expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe('hm');
  expect(deltas.filter((delta) => delta.tool_calls).length).toBeGreaterThan(2);
  expect(events(text).at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } });
});

test('R-FAKE-1: a client that does not stream gets the whole reply; usage comes only when asked for', async () => {
  const { ask } = await server({ script: { coder: ['one'] } });
  expect(await (await ask({ role: 'coder', stream: false })).json()).toMatchObject({
    object: 'chat.completion',
    choices: [{ message: { role: 'assistant', content: 'one' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: expect.any(Number) },
  });
  expect(await (await ask({ role: 'coder', usage: false })).text()).not.toContain('usage');
});

test('R-FAKE-1: without headers the role is default, counted by the server', async () => {
  const { ask, requests } = await server({ script: { default: ['a', 'b'] } });
  await (await ask()).text();
  expect(await (await ask()).text()).toContain('"b"');
  expect(requests.map(({ role, step }) => [role, step])).toEqual([
    ['default', 0],
    ['default', 1],
  ]);
});

test('R-FAKE-2: a step or role that is not there is a clear 400', async () => {
  const { ask, requests } = await server({ script: { coder: ['a', 'b'] } });
  const reply = async (role: string, step: number) => {
    const response = await ask({ role, step });
    return [response.status, ((await response.json()) as { error: { message: string } }).error.message];
  };
  expect(await reply('coder', 2)).toEqual([
    400,
    'the script has no step 2 for the role "coder"; it has 2, counted from 0',
  ]);
  expect(await reply('judge', 0)).toEqual([400, expect.stringContaining('no role "judge" (step 0')]);
  expect(requests.map((request) => request.outcome)).toEqual(['unscripted', 'unscripted']);
});

test('R-FAKE-3: a fault of a step is played as often as it says, then the step as written', async () => {
  const fault = { type: 'status' as const, status: 429, retry_after: 1.5, times: 2 };
  const { ask } = await server({ script: { coder: [{ text: 'here', fault }] } });
  for (const _ of [1, 2]) {
    const response = await ask({ role: 'coder' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1.5']);
    await response.text();
  }
  expect((await ask({ role: 'coder' })).status).toBe(200);
});

test('R-FAKE-3: a cut breaks the connection, before or in the middle of the answer', async () => {
  const script = { coder: ['x'.repeat(100)] };
  const { ask, setFaults } = await server({ script, faults: [{ fault: { type: 'cut', after: 2, times: 1 } }] });
  await expect((await ask({ role: 'coder' })).text()).rejects.toThrow();
  setFaults([{ role: 'coder', step: 0, fault: { type: 'cut', after: 0, times: 1 } }]);
  await expect(ask({ role: 'coder' })).rejects.toThrow();
  expect(await (await ask({ role: 'coder' })).text()).toContain('[DONE]');
});

test('R-FAKE-3: a stall keeps the stream open without a word more', async () => {
  const { ask, requests } = await server({
    script: { coder: [{ text: 'x', fault: { type: 'stall', after: 2 } }] },
  });
  const abort = new AbortController();
  const response = await ask({ role: 'coder' });
  const reader = response.body?.getReader();
  let text = '';
  while (!text.includes('"x"')) text += new TextDecoder().decode((await reader?.read())?.value);
  const more = await Promise.race([reader?.read(), new Promise((resolve) => setTimeout(resolve, 100, 'silence'))]);
  expect(more).toBe('silence');
  expect(requests[0]?.outcome).toBe('stall');
  abort.abort();
  await reader?.cancel();
});

test('R-FAKE-3: cut arguments, an empty reply, an error as text, an error event and a page are played', async () => {
  const calls = [{ name: 'write', arguments: { content: 'abcdefgh' } }];
  const { ask, root } = await server({ script: { coder: [{ text: 'fine', calls }] } });
  const under = async (fault: object) => {
    const body = JSON.stringify([{ fault }]);
    expect((await fetch(`${root}/faults`, { method: 'POST', body })).status).toBe(200);
    return await (await ask({ role: 'coder' })).text();
  };
  expect(await under({ type: 'cut_arguments' })).toContain('"finish_reason":"length"');
  expect(await under({ type: 'empty' })).not.toContain('fine');
  expect(await under({ type: 'error_text', message: 'Error: nope' })).toContain('Error: nope');
  expect(await under({ type: 'error_event' })).toContain('"error":{"message":"upstream broke"}');
  expect(await under({ type: 'html' })).toContain('<!doctype html>');
  expect((await fetch(`${root}/faults`, { method: 'POST', body: '[{"fault":{"type":"x"}}]' })).status).toBe(400);
});

test('R-FAKE-3: headers, resets, drips, compression, huge lines and replies, other types and bodies are played', async () => {
  const text = '写好了😀'.repeat(20);
  const { ask, setFaults } = await server({ script: { coder: [text] } });
  const under = async (fault: FaultSwitch['fault']) => {
    setFaults([{ fault }]);
    const response = await ask({ role: 'coder' });
    return { response, body: await response.text() };
  };
  const said = (body: string) => [...body.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('');
  const limited = await under({ type: 'status', status: 429, headers: { 'retry-after-ms': '7' }, times: 1 });
  expect(limited.response.headers.get('retry-after-ms')).toBe('7');
  await expect(under({ type: 'reset', after: 2, times: 1 })).rejects.toThrow();
  await expect(under({ type: 'reset', after: 0, times: 1 })).rejects.toThrow();
  expect(said((await under({ type: 'drip', bytes: 7, ms: 0, times: 1 })).body)).toBe(text);
  const packed = await under({ type: 'gzip', cut: false, times: 1 });
  expect([packed.response.headers.get('content-encoding'), said(packed.body)]).toEqual(['gzip', text]);
  expect((await under({ type: 'gzip', cut: true, times: 1 })).body).not.toContain('[DONE]');
  expect((await under({ type: 'huge_line', bytes: 100_000, times: 1 })).body.length).toBeGreaterThan(100_000);
  expect(said((await under({ type: 'big_reply', bytes: 200_000, times: 1 })).body)).toBe(text.repeat(2000));
  const other = await under({ type: 'content_type', value: 'text/plain', times: 1 });
  expect([other.response.headers.get('content-type'), said(other.body)]).toEqual(['text/plain', text]);
  const wrong = await under({ type: 'error_body', message: 'no', code: 'quota', times: 1 });
  expect([wrong.response.status, JSON.parse(wrong.body)]).toMatchObject([
    200,
    { error: { message: 'no', code: 'quota' } },
  ]);
});

test('R-FAKE-3: each fault is in the documentation', async () => {
  const page = await readFile(new URL('../docs/model-scripts.md', import.meta.url), 'utf8');
  for (const { shape } of Fault.options) expect(page).toContain(`| \`${shape.type.value}\``);
});

test('R-FAKE-4: requests are kept in order, and another process can read them', async () => {
  const { ask, root } = await server({ script: { coder: ['a'], reviewer: ['b'] } });
  await (await ask({ role: 'coder' })).text();
  await (await ask({ role: 'reviewer' })).text();
  const requests = (await (await fetch(`${root}/requests`)).json()) as { role: string; at: number; body: object }[];
  expect(requests.map((request) => request.role)).toEqual(['coder', 'reviewer']);
  expect(requests[0]).toMatchObject({
    step: 0,
    model: 'm',
    outcome: 'played',
    body: { messages: [{ content: 'go' }] },
  });
});

test('R-FAKE-5: a wrong script is refused with the place that is wrong', async () => {
  expect(() => parseScript({ coder: [{ txt: 'slip' }] }, 'my.json')).toThrow(/my\.json.*txt/s);
  expect(() => parseScript([])).toThrow(/script/);
  await expect(readScript('/nowhere/script.json')).rejects.toMatchObject({ code: 'not_found' });
  const { url } = await server({ script: {} });
  const port = Number(new URL(url).port);
  await expect(startModelServer({ script: {}, port })).rejects.toMatchObject({ code: 'port_in_use' });
});

test('R-FAKE-5: the example of the documentation is a script', async () => {
  const page = await readFile(new URL('../docs/model-scripts.md', import.meta.url), 'utf8');
  const example = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  expect(parseScript(JSON.parse(example)).coder).toHaveLength(2);
});

test('R-FAKE-1: the command serves a script file and says where', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'npc-model-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const script = join(folder, 'script.json');
  await writeFile(script, '{"default":["hello"]}');
  const fault = '{"type":"status","status":500}';
  const command = ['--import', 'tsx', 'testing/model-server-command.ts'];
  const child = spawn(process.execPath, [...command, '--script', script, '--fault', fault]);
  onTestFinished(() => void child.kill());
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  const ask = () =>
    fetch(`${url}/chat/completions`, {
      method: 'POST',
      body: '{"model":"m","messages":[{"role":"user","content":"x"}]}',
    });
  expect((await ask()).status).toBe(500);
  expect(await (await ask()).text()).toContain('hello');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  const wrong = spawn(process.execPath, [...command, '--script', script, '--port', 'x']);
  const [line] = (await once(createInterface(wrong.stderr), 'line')) as [string];
  expect([line, (await once(wrong, 'exit'))[0]]).toEqual(['model-server: --port x: 0 to 65535', 2]);
});
