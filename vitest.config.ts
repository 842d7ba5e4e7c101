import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules', 'dist'],
    // A whole run was seen to take from 5 to 25 s, by how busy the machine is.
    testTimeout: 90_000,
    hookTimeout: 30_000,
    reporters: ['default', ['json', { outputFile: 'test-report.json' }]],
  },
});
