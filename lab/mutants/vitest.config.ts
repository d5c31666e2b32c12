import { defineConfig } from 'vitest/config'

/**
 * Runs only unit tests, because Stryker runs every test that reaches a mutant. PORTAGE_MUTANT_TESTS has their patterns.
 */
export default defineConfig({
  test: {
    setupFiles: ['test/helpers/setup.ts', 'lab/mutants/no-shrinking.ts'],
    include: JSON.parse(process.env['PORTAGE_MUTANT_TESTS'] ?? '[]') as string[],
    exclude: ['**/*.integration.test.ts'],
    // If test files share a worker, Stryker sees only the code that the tests of the first file reach.
    isolate: true,
    testTimeout: 60_000,
    expect: { requireAssertions: true },
  },
})
