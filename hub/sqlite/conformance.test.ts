import { describeStorage } from '../../test/helpers/storage-conformance/index.ts';
import { inFile, inMemory } from '../../test/helpers/storage-conformance/sqlite.ts';

describeStorage('R-HUB-40, R-HUB-47: SQLite in a file', inFile, 100);
describeStorage('R-HUB-40, R-HUB-47: SQLite in memory', inMemory, 500);
