import { expect, test } from 'vitest';
import { z } from 'zod';
import { readConfig } from './read-config.ts';

const schema = z.object({
  model: z.string().default('small').meta({ env: 'NPC_MODEL' }),
  budgetTokens: z.coerce.number().int().positive().optional().meta({ env: 'NPC_BUDGET_TOKENS' }),
});
const file = { path: '.npc/config.yml', values: { model: 'from-file' } };

test('R-CLI-1: a flag wins over the variable, that over the file, that over the default', () => {
  const environment = { NPC_MODEL: 'from-variable' };
  expect(readConfig(schema, { flags: { model: 'from-flag' }, environment, file }).model).toBe('from-flag');
  expect(readConfig(schema, { flags: { model: undefined }, environment, file }).model).toBe('from-variable');
  expect(readConfig(schema, { environment: {}, file }).model).toBe('from-file');
  expect(readConfig(schema, {}).model).toBe('small');
});

test('R-CLI-1: an empty variable counts as unset', () => {
  expect(readConfig(schema, { environment: { NPC_MODEL: '' } }).model).toBe('small');
});

test.each([
  [{ flags: { budgetTokens: 'many' } }, '--budget-tokens'],
  [{ environment: { NPC_BUDGET_TOKENS: '-3' } }, 'NPC_BUDGET_TOKENS'],
  [{ file: { path: '.npc/config.yml', values: { budgetTokens: [], model: 3 } } }, '.npc/config.yml, model'],
])('R-CLI-1: a wrong setting is named by where it stands: %j', (sources, name) => {
  expect(() => readConfig(schema, sources)).toThrow(name);
});

test('R-CLI-1: what was read cannot be changed', () => {
  expect(Object.isFrozen(readConfig(schema, {}))).toBe(true);
});
