import { describe } from 'vitest';
import { describeRandomUse } from '../../test/helpers/storage-conformance/random-use.ts';
import { inFile, inMemory } from '../../test/helpers/storage-conformance/sqlite.ts';

describe('SQLite in a file', () => describeRandomUse(inFile, 3000));
describe('SQLite in memory', () => describeRandomUse(inMemory, 7000));
