import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from '../../test/helpers/temp-repository.ts';
import { GOOD_FOR_DAYS, keepDialects, readDialects } from './model-file.ts';

const DAY = 86_400_000;
const now = Date.parse('2026-12-01T00:00:00Z');

test('R-CLI-47: what was found out of models is kept beside what is known of others, and is forgotten when it is old', async () => {
  const path = join(await tempFolder(), 'deep', 'models.json');
  expect(await readDialects(path, now)).toEqual({});
  await keepDialects(path, { 'h/v1 a': { tools: 'text' } }, now);
  await keepDialects(path, { 'h/v1 b': { leftOut: ['seed'] } }, now + DAY);
  expect(await readDialects(path, now + DAY)).toEqual({
    'h/v1 a': { tools: 'text' },
    'h/v1 b': { leftOut: ['seed'] },
  });
  expect(Object.keys(await readDialects(path, now + GOOD_FOR_DAYS * DAY))).toEqual(['h/v1 b']);
});

test('R-CLI-47: an entry or a file that cannot be read is left out, and a damaged file is set aside', async () => {
  const path = join(await tempFolder(), 'models.json');
  await keepDialects(path, { 'h/v1 a': { tools: 'text' } }, now);
  const file = JSON.parse(await readFile(path, 'utf8'));
  file.models['h/v1 b'] = { checked: 'yesterday', dialect: {} };
  file.models['h/v1 c'] = { checked: new Date(now).toISOString(), dialect: { tools: 'sometimes' } };
  await writeFile(path, JSON.stringify(file));
  expect(await readDialects(path, now)).toEqual({ 'h/v1 a': { tools: 'text' } });
  await writeFile(path, '{"version":1,"mod');
  expect(await readDialects(path, now)).toEqual({});
});
