import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

/**
 * Ends every test run with the line `N passed, N failed`. For `.ci/run`, PORTAGE_FAILED_FILES names a file for one line
 * `project path` per failed test file, and a line `unhandled` for errors outside tests. PORTAGE_RERUN names a file for
 * the commands that run the failed tests alone.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      for (const test of tests) counts[test.result().state] += 1
      // A file that did not load, or whose hook threw, counts as a failure although no test failed.
      if (module.state() === 'failed' && !tests.some(isFailed)) counts.failed += 1
    }
    const failed = modules.filter((module) => module.state() === 'failed')
    const unhandled = unhandledErrors.length > 0
    write('PORTAGE_FAILED_FILES', [
      ...failed.map((module) => `${module.project.name} ${pathOf(module)}`),
      ...(unhandled ? ['unhandled'] : []),
    ])
    write('PORTAGE_RERUN', [...failed.flatMap(rerunLines), ...(unhandled ? ['an error outside the tests'] : [])])
    const skipped = counts.skipped > 0 ? `${counts.skipped} skipped\n` : ''
    // Printed at the exit, because the default reporter prints its summary during this turn of the event loop.
    process.on('exit', () => process.stdout.write(`\n${skipped}${counts.passed} passed, ${counts.failed} failed\n`))
  }
}

const isFailed = (test: TestCase): boolean => test.result().state === 'failed'
const pathOf = (module: TestModule): string => relative(process.cwd(), module.moduleId)

function write(variable: string, lines: readonly string[]): void {
  const file = process.env[variable]
  if (file !== undefined) writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
}

/** Each failed test of a file, with the command that runs it alone. A file that did not load runs as a whole. */
function rerunLines(module: TestModule): string[] {
  const path = pathOf(module)
  const alone = `  npx vitest run --project ${module.project.name} ${path}`
  const failed = [...module.children.allTests()].filter(isFailed)
  if (failed.length === 0) return [`${path}: the file itself`, alone]
  return failed.flatMap((test) => [`${path} > ${test.fullName}`, `${alone} -t ${shellWord(namePattern(test.fullName))}`])
}

/** A pattern for `-t`, which vitest matches against the names of describes and test, separated by spaces. */
function namePattern(fullName: string): string {
  return fullName.replaceAll(' > ', ' ').replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
