import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run as runCommand } from '../../lab/devnet/run.ts'

export type Buildah = ReturnType<typeof createBuildah>

/** Buildah with its own store in `folder`. Needs root, but no container runtime and no special file system. */
export function createBuildah(folder: string) {
  const store = ['--storage-driver', 'vfs', '--root', join(folder, 'store'), '--runroot', join(folder, 'run')]
  const options = { env: { ...process.env, BUILDAH_ISOLATION: 'chroot' }, timeoutMs: 3_600_000 }
  /** Returns the output without its last line break. Throws Error with the output. */
  const run = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runCommand('buildah', [...store, ...args], options)
    if (code !== 0) throw new Error(`buildah ${args[0]}: ${`${stdout}\n${stderr}`.trim().slice(-4_000)}`)
    return stdout.trim()
  }
  return {
    run,
    /** Deletes the folder with all images and containers. */
    async remove(): Promise<void> {
      await run('umount', '--all').catch(() => '')
      await run('rm', '--all').catch(() => '')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
