import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'

/** A process, identified by its id and its start time, because systems reuse process ids. */
interface Owner {
  readonly pid: number
  readonly startedAt: string
}

/** Locks the folder until the process ends or the returned function is called. Throws Error if the folder is locked. */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  await mkdir(dir, { recursive: true })
  const file = join(dir, 'running.json')
  const mine = JSON.stringify({ pid: process.pid, startedAt: await startOf(process.pid) } satisfies Owner)
  for (;;) {
    try {
      await writeFile(file, mine, { flag: 'wx' })
      return () => rm(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const owner = await ownerOf(file)
    if (owner && (await isRunning(owner))) {
      const other = `npm run devnet -- --dir ${join('.portage', 'devnet-2')}`
      throw new Error(
        `A devnet already runs in ${dir} (process ${owner.pid}). Stop it (Ctrl-C), or use another folder for this devnet: ${other}`,
      )
    }
    await rm(file, { force: true })
  }
}

async function ownerOf(file: string): Promise<Owner | undefined> {
  try {
    const { pid, startedAt } = JSON.parse(await readFile(file, 'utf8')) as Partial<Owner>
    return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : undefined
  } catch {
    // The owner of the lock has just removed the file, or a crash has truncated it.
    return undefined
  }
}

async function isRunning({ pid, startedAt }: Owner): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process runs, but belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return (await startOf(pid)) === startedAt
}

/** Start time as `ps` prints it. Empty if `ps` is missing, so that the id alone identifies the process. */
async function startOf(pid: number): Promise<string> {
  const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)], { env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' } })
  return stdout.trim()
}
