import { describeRandomUse } from '../../test/helpers/storage-conformance/random-use.ts';
import { inFile } from '../../test/helpers/storage-conformance/sqlite.ts';

describeRandomUse(inFile, 10_000);
