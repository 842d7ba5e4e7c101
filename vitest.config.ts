import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules', 'dist'],
    // A whole run takes 4 s on an idle machine, and six times as long on a busy one.
    testTimeout: 90_000,
    hookTimeout: 30_000,
    reporters: ['default', ['json', { outputFile: 'test-report.json' }]],
  },
});
