import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type PythonTool = { readonly bin: string } | { readonly why: string }

/**
 * Installs a Python package into the cache if it is missing, or if the Python that it used is gone. Needs Python 3.10.
 * Never throws.
 */
export async function pythonTool(name: string, version: string): Promise<PythonTool> {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'portage', `${name}-${version}`)
  const bin = join(folder, 'bin')
  const runs = () => run(join(bin, name), ['--version'])
  if (existsSync(join(bin, name)) && (await runs().then(Boolean, () => false))) return { bin }
  try {
    await run('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))'])
  } catch {
    return { why: 'there is no python3 of version 3.10 or later' }
  }
  try {
    await run('python3', ['-m', 'venv', '--clear', folder])
    await run(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', `${name}==${version}`])
    await runs()
    return { bin }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    return { why: `${name} cannot be installed, or does not run: ${String(error).split('\n')[0]}` }
  }
}
