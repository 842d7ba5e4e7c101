import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { roles } from '../../agents/roles.ts';
import { startModelServer } from '../../testing/model-server.ts';
import { parseScript } from '../../testing/script.ts';
import { loadTools, toolNames } from '../../tools/load-tools.ts';
import { plainEnv, tempFolder } from '../helpers/temp-repository.ts';

const page = readFileSync(new URL('../../docs/model-scripts.md', import.meta.url), 'utf8');

/** The text below a heading, up to the next of its kind. */
function section(heading: string): string {
  return page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
}

test('R-DOC-3: the table has every tool with its arguments, which may be left out, and the roles that have it', async () => {
  const inTable = [...section('Tools').matchAll(/^\| `([\w-]+)` *\| (.+?) *\| (.+?) *\|$/gm)].map(
    ([, name, text = '', who]) => {
      // what stands in brackets are values, and shapes of one argument follow a colon
      const named = text.replaceAll(/\([^)]*\)|: `[^`]*`/g, '').matchAll(/`([^`]+)`/g);
      return { name, args: [...named].map(([, argument]) => argument).sort(), who };
    },
  );
  const inCode = (await loadTools(await toolNames())).map(({ name, input }) => {
    const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' });
    const args = Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`));
    const who = Object.values(roles).filter(({ tools }) => tools.includes(name));
    return { name, args: args.sort(), who: who.map((role) => role.name).join(', ') };
  });
  expect(inTable).toEqual(inCode);
});

test('R-DOC-4: the repository, the script and the command of the page make a green run', {
  timeout: 90_000,
}, async () => {
  const folder = await tempFolder();
  const blocks = [...section('A script that ends green').matchAll(/```\w+\n([\s\S]*?)```/g)];
  const [files = '', script = '', , command = ''] = blocks.map(([, text]) => text);
  const models = await startModelServer({ script: parseScript(JSON.parse(script)) });
  onTestFinished(() => models.close());
  const sh = (text: string) =>
    execa('bash', ['-euc', text.replaceAll('/tmp/greet', join(folder, 'greet'))], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      env: { PATH: plainEnv.PATH, HOME: folder },
      extendEnv: false,
      reject: false,
    });

  expect(await sh(files)).toMatchObject({ exitCode: 0 });
  // agents in the run's own process play the same steps in less time
  const run = await sh(`${command.trim().replace('http://127.0.0.1:4010/v1', models.url)} --in-process`);
  const asked = models.requests.map(({ role, step, outcome }) => `${role} ${step} ${outcome}`);
  expect({ exit: run.exitCode, asked }, run.stderr + run.stdout).toEqual({
    exit: 0,
    asked: Object.entries(JSON.parse(script) as Record<string, unknown[]>).flatMap(([role, steps]) =>
      steps.map((_, step) => `${role} ${step} played`),
    ),
  });
  const judged = JSON.stringify(models.requests.at(-1)?.body);
  expect(judged).toContain('E1: files that differ from the base: greet.mjs');
  expect(judged).toContain('E2: command `npm test`');
  const branch = await sh("git -C /tmp/greet branch --list 'npc/goal-*' --format='%(refname:short)'");
  expect((await sh(`git -C /tmp/greet show ${branch.stdout}:greet.mjs`)).stdout).toMatch(/`Hello, .+!`/);
});
