import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { toolNames } from '../tools/load-tools.ts';
import { roleNamed, roles } from './roles.ts';

test('R-AGENT-30: a role has a prompt with duty, result and limits, and tools that exist', async () => {
  const known = await toolNames();
  for (const [name, role] of Object.entries(roles)) {
    expect(role.name).toBe(name);
    const prompt = await readFile(role.prompt, 'utf8');
    for (const part of [`# Role: ${name}`, '## What you get', '## What you do', '## How you end', '## Limits'])
      expect(prompt).toContain(part);
    expect(prompt).toContain('submit-result');
    expect(prompt).toContain('in the language of the request');
    for (const tool of role.tools) expect(known, `${name}: ${tool}`).toContain(tool);
    expect(role.tools).toContain('submit-result');
  }
});

test('R-AGENT-31: only the coder may write files', () => {
  const writers = Object.values(roles).filter(({ tools }) => tools.includes('write') || tools.includes('edit'));
  expect(writers.map(({ name }) => name)).toEqual(['coder']);
  expect(() => roleNamed('toString')).toThrow('there is no built-in role "toString"');
});
