import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from '../lab/devnet/run.ts'
import { npm } from './release/stage.ts'

/** The npm package with the binary. The package `node` is not used, because it would run a script to get the binary. */
const packageName = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const place = join('node_modules', packageName, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
/** Maximum time (ms) of the download of 40 MB: a gate should not wait longer for a registry that does not answer. */
const timeoutMs = 180_000

async function installFromNpm(version: string, folder: string): Promise<void> {
  const quiet = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=0']
  await npm(['install', ...quiet, `${packageName}@${version}`], folder, timeoutMs)
}

/**
 * The binary of another Node, such as version 24 or 20.3.0, from `folder` or else npm. Throws Error if npm has no
 * binary that runs here.
 */
export async function nodeBinary(version: string, folder: string, install = installFromNpm): Promise<string> {
  const binary = join(folder, place)
  if ((await problemOf(binary, version)) === undefined) return binary
  await mkdir(dirname(folder), { recursive: true })
  const work = await mkdtemp(join(dirname(folder), 'work-'))
  try {
    await install(version, work)
    const problem = await problemOf(join(work, place), version)
    if (problem !== undefined) throw new Error(problem)
    // The old binary is replaced only after a complete installation, because a killed npm leaves half a binary.
    await rm(folder, { recursive: true, force: true })
    await rename(work, folder)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return binary
}

async function problemOf(binary: string, version: string): Promise<string | undefined> {
  if (!existsSync(binary)) return `npm's package ${packageName} has no binary`
  const { code, stdout, stderr } = await run(binary, ['--version'], { timeoutMs: 20_000 })
  if (code === 0 && `${stdout.trim()}.`.startsWith(`v${version}.`)) return undefined
  return `its binary does not run: ${(stderr || stdout).trim().slice(0, 200) || `exit code ${code}`}`
}
