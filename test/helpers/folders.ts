import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanUp } from './clean-up.ts'

/** A new folder that is removed after the current test or, outside a test, after the last test of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portage-test-'))
  cleanUp(() => {
    // Tests of file modes remove permissions from folders.
    if (existsSync(folder)) chmodSync(folder, 0o700)
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}
