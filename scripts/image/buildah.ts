import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/**
 * Buildah with its own store, which `remove` deletes. Needs root, but no container runtime and no special file system.
 */
export interface Buildah {
  /** Returns the output without its last line break. Throws Error with the error output. */
  run(...args: readonly string[]): Promise<string>
  remove(): Promise<void>
}

/** Makes the folder. `remove` deletes the folder with all images and containers. */
export function createBuildah(folder: string): Buildah {
  const store = ['--storage-driver', 'vfs', '--root', join(folder, 'store'), '--runroot', join(folder, 'run')]
  const run = async (...args: readonly string[]) => {
    const options = { env: { ...process.env, BUILDAH_ISOLATION: 'chroot' }, maxBuffer: 64 * 1024 * 1024 }
    const { stdout } = await execute('buildah', [...store, ...args], options).catch(
      (error: Error & { stdout?: string; stderr?: string }) => {
        const said = `${error.stdout ?? ''}\n${error.stderr ?? ''}`.trim()
        throw new Error(`buildah ${args[0]}: ${said.slice(-4_000) || error.message}`)
      },
    )
    return stdout.trim()
  }
  return {
    run,
    async remove() {
      await run('umount', '--all').catch(() => '')
      await run('rm', '--all').catch(() => '')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
