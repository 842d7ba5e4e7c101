import { test } from 'vitest';
import { expectFault, faultCases } from '../test/helpers/fault-matrix.ts';

test.each(faultCases.filter(({ sample }) => !sample))(
  'R-LLM-23: $name ends as $ends after $tries tries, in time, and leaves nothing open',
  expectFault,
);
