import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startModelServer } from '../../testing/model-server.ts';
import { startCli } from '../helpers/npc-crew.ts';
import { makeShop, playDemo } from '../helpers/shop.ts';
import { tempFolder } from '../helpers/temp-repository.ts';

const told = { text: '<tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>' };
// taken and left alone; then, with the tools in the prompt, called
const ignoring = ['1 2 3', 'I cannot.', told, told, 'It is 21 degrees.', told, 'Green.'];

test('R-CLI-47: doctor model tells what a model can do, and runs of the same user keep to it', async () => {
  const home = await tempFolder();
  const server = await startModelServer({ script: { doctor: ignoring } });
  const { port } = new URL(server.url);
  const env = { HOME: home, OPENAI_BASE_URL: server.url, NPC_MODEL: 'scripted' };
  const { exit, stdout, stderr } = await startCli(['doctor', 'model'], { env }).result;
  await server.close();
  expect({ exit }, stdout + stderr).toEqual({ exit: 0 });
  expect(stdout).toMatch(/tools +partly +ignored/);
  expect(stdout).toMatch(/vision +no/);

  const { models } = await playDemo({}, Number(port));
  const repo = join(home, 'shop');
  await makeShop(repo);
  const run = startCli(['run', '--goal', 'add a discount', '--repo', repo], { env });
  await expect.poll(() => models.requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
  run.child.kill('SIGTERM');
  await run.result;
  expect(models.requests[0]?.body.tools).toBeUndefined();
  expect(JSON.stringify(models.requests[0]?.body.messages)).toContain('## submit-result');
});

test('R-CLI-47: doctor model --json is one line; a model that cannot be worked with ends with 3', async () => {
  const server = await startModelServer({
    script: { doctor: ['hi'] },
    faults: [{ fault: { type: 'status', status: 401, times: 'always' } }],
  });
  onTestFinished(() => server.close());
  const env = { HOME: await tempFolder(), OPENAI_BASE_URL: server.url, NPC_MODEL: 'scripted' };
  const { exit, stdout } = await startCli(['doctor', 'model', 'one', 'two', '--json'], { env }).result;
  expect(exit).toBe(3);
  const checked: { model: string; usable: boolean }[] = JSON.parse(stdout);
  expect(checked.map(({ model, usable }) => [model, usable])).toEqual([
    ['one', false],
    ['two', false],
  ]);
});

test('R-CLI-47: doctor model without a key or a model is wrong usage', async () => {
  const { exit, stderr } = await startCli(['doctor', 'model'], { env: { HOME: await tempFolder() } }).result;
  expect({ exit }).toEqual({ exit: 2 });
  expect(stderr).toMatch(/NPC_MODEL.*OPENAI_API_KEY/);
});

test('R-CLI-47: Ctrl-C ends doctor model with 130, without a fault and without anything kept', async () => {
  const home = await tempFolder();
  const server = await startModelServer({ script: { doctor: [{ text: 'hi', delay_ms: 20_000 }] } });
  onTestFinished(() => server.close());
  const env = { HOME: home, OPENAI_BASE_URL: server.url, NPC_MODEL: 'scripted' };
  const doctor = startCli(['doctor', 'model'], { env });
  await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
  doctor.child.kill('SIGINT');
  const { exit, stderr } = await doctor.result;
  expect({ exit }, stderr).toEqual({ exit: 130 });
  expect(stderr).not.toContain('fault');
});
