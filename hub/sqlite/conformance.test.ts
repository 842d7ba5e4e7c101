import { describeStorage } from '../../test/helpers/storage-conformance/index.ts';
import { inFile, inMemory } from '../../test/helpers/storage-conformance/sqlite.ts';

describeStorage('SQLite in a file', inFile, 500);
describeStorage('SQLite in memory', inMemory, 300);
