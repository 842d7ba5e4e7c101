import { defineConfig } from 'vitest/config';

/** `npm run test:all` runs everything; `npm test` leaves out the files called `*.long.test.ts`, which repeat a kind that it has a sample of. */
const all = process.env.NPC_TEST_ALL === 'true';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules', 'dist', 'dist.next', ...(all ? [] : ['**/*.long.test.ts'])],
    // The tests of whole runs wait more than they compute.
    maxWorkers: 3,
    // A whole run was seen to take from 5 to 25 s, by how busy the machine is.
    testTimeout: 90_000,
    hookTimeout: 30_000,
    reporters: ['default', ['json', { outputFile: 'test-report.json' }]],
  },
});
