import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/**
 * Ends every test run with the plain line `N passed, N failed`: people and `.ci/run` read the same one. PORTAGE_FAILED_FILES names a file for what failed: one line
 * `project path` per test file, and a line `unhandled` for errors outside any.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      for (const test of tests) counts[test.result().state] += 1
      // A file that did not load, or a hook that threw, is a failure without a failed test.
      if (module.state() === 'failed' && !tests.some((test) => test.result().state === 'failed')) counts.failed += 1
    }
    const list = process.env['PORTAGE_FAILED_FILES']
    if (list !== undefined)
      writeFileSync(
        list,
        failedFiles(modules, unhandledErrors)
          .map((line) => `${line}\n`)
          .join(''),
      )
    const skipped = counts.skipped > 0 ? `${counts.skipped} skipped\n` : ''
    // After the default reporter's summary, which is printed in the same turn.
    process.on('exit', () => process.stdout.write(`\n${skipped}${counts.passed} passed, ${counts.failed} failed\n`))
  }
}

function failedFiles(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): string[] {
  const failed = modules.filter((module) => module.state() === 'failed')
  const files = failed.map(({ project, moduleId }) => `${project.name} ${relative(process.cwd(), moduleId)}`)
  return unhandledErrors.length > 0 ? [...files, 'unhandled'] : files
}
