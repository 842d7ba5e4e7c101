import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { createMasker } from '../../base/mask.ts';
import { linesOf, recordingBench, replayingBench } from '../../test/helpers/cassette.ts';
import { asking } from '../../test/helpers/gateway-bench.ts';
import { tempFolder } from '../../test/helpers/temp-repository.ts';
import { openRecorder, readCassette } from '../index.ts';
import { maskPieces } from './mask-pieces.ts';

const secret = 'swordfish-9931';

test('R-LLM-85: a cassette is one header, each message once, and each exchange, for its owner alone', async () => {
  const { agent, signal, path, done } = await recordingBench({ coder: ['one', 'two'] });
  const { model } = await agent('coder-1', 'run.code');
  const first = { role: 'user' as const, content: 'a' };
  await model.reply(asking(0, { turns: [first] }), signal);
  await model.reply(asking(1, { turns: [first, { role: 'user', content: 'b' }] }), signal);
  await done();
  const [header, ...lines] = await linesOf(path);
  expect(header).toMatchObject({ cassette: 1, program: 'npc-crew test', names: { run: 'run' } });
  const parts = lines.filter((line) => 'part' in line);
  expect(new Set(parts.map(({ part }) => part)).size).toBe(parts.length);
  expect(JSON.stringify(parts).match(/"content":"a"/g)).toHaveLength(1);
  const exchanges = lines.filter((line) => 'exchange' in line);
  expect(exchanges).toMatchObject([
    { exchange: 0, place: { role: 'coder', task: 'code', turn: 0, try: 1 }, model: 'big', status: 200, end: 'left' },
    { exchange: 1, place: { role: 'coder', task: 'code', turn: 1, try: 1 } },
  ]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('R-LLM-85: a compressed cassette, and one whose last line is torn, are read', async () => {
  const packed = await recordingBench({ coder: ['one'] }, { name: 'run.jsonl.gz' });
  await (await packed.agent('coder-1', 'run.code')).model.reply(asking(), packed.signal);
  await packed.done();
  expect((await readFile(packed.path)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  const replay = await replayingBench(packed.path);
  const { model } = await replay.agent('coder-1', 'run.code');
  expect((await model.reply(asking(), replay.signal)).content).toBe('one');

  const plain = await recordingBench({ coder: ['one'] });
  await (await plain.agent('coder-1', 'run.code')).model.reply(asking(), plain.signal);
  await plain.done();
  await appendFile(plain.path, '{"exchange":1,"at":');
  expect(await readCassette(plain.path)).toMatchObject({ torn: true, exchanges: [{ exchange: 0 }] });
  expect((await replayingBench(plain.path)).notices[0]).toMatch(/the last line of .* was not written whole/);

  const goOn = { path: plain.path, goOn: true, program: 'x', secrets: [], log: silentLog(), onFailure: () => {} };
  await (await openRecorder(goOn)).close();
  expect(await readCassette(plain.path)).toMatchObject({ torn: false, exchanges: [{ exchange: 0 }] });
});

test('R-LLM-85: what cannot be recorded into or read is refused with the reason', async () => {
  const folder = await tempFolder();
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const options = { program: 'x', secrets: [], log: silentLog(), onFailure: () => {} };
  const full = await file('full', 'mine');
  await expect(openRecorder({ ...options, path: full })).rejects.toThrow(/holds something already/);
  await expect(openRecorder({ ...options, path: folder })).rejects.toThrow(/it is no file/);
  await expect(openRecorder({ ...options, path: join(folder, 'a', 'b') })).rejects.toThrow(/there is no such file/);
  const empty = await openRecorder({ ...options, path: await file('empty', '') });
  await empty.close();
  await expect(readCassette(join(folder, 'absent'))).rejects.toThrow(/there is no such file/);
  await expect(readCassette(full)).rejects.toThrow(/it is no recording/);
  const later = await file('later', '{"cassette":2,"made":"","program":"x"}\n');
  await expect(readCassette(later)).rejects.toThrow(/its version is 2, this program reads version 1/);
  const header = '{"cassette":1,"made":"","program":"x"}\n';
  await expect(readCassette(await file('odd', `${header}{"odd":1}\n`))).rejects.toThrow(/, line 2: it is damaged/);
  await expect(readCassette(await file('no.gz', header))).rejects.toThrow(/not compressed/);
});

test('R-LLM-86: secrets stand in no line of a cassette, however a reply or its stream cuts them', async () => {
  const text = `the key is ${secret}, and sk-proj-${'aB3dE5fG7h'.repeat(4)} too`;
  const call = { name: 'write', arguments: { key: secret } };
  const recorded = await recordingBench(
    { coder: [{ text, thinking: text, calls: [call] }, 'two'] },
    { secrets: [secret] },
  );
  const { model } = await recorded.agent('coder-1', 'run.code');
  const turns = [{ role: 'user' as const, content: `use ${secret}` }];
  const reply = await model.reply(asking(0, { turns }), recorded.signal);
  expect(reply.content).toContain(secret);
  await recorded.done();
  const kept = await readFile(recorded.path, 'utf8');
  expect(kept).not.toContain('swordfish');
  expect(kept).not.toContain('9931');
  expect(kept).not.toContain('dE5fG7h');
  expect(kept).not.toContain('key-of-the-upstream');
  expect(kept).toContain('"rewritten":true');
  const replay = await replayingBench(recorded.path, { secrets: [secret] });
  const again = await (await replay.agent('coder-1', 'run.code')).model.reply(asking(0, { turns }), replay.signal);
  expect(again.content).toBe('the key is ***, and *** too');
  expect(replay.notices).toEqual([]);
});

test('R-LLM-86: a secret is masked however texts are cut, and everything else stays where it was', () => {
  const masker = createMasker([secret, 'other-secret-1']);
  const text = `a ${secret} b other-secret-1${secret} c`;
  for (let one = 0; one <= text.length; one += 1) {
    for (let two = one; two <= text.length; two += 1) {
      const pieces = [text.slice(0, one), text.slice(one, two), text.slice(two)];
      expect(maskPieces(pieces, masker)?.join('')).toBe('a *** b ****** c');
    }
  }
  expect(maskPieces(['nothing', ' here'], masker)).toBeUndefined();
});
