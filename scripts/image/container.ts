import { mkdir, readFile } from 'node:fs/promises'
import { type Child, startChild } from '../../lab/devnet/child.ts'
import { until } from '../../lab/devnet/until.ts'

export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
}

interface Mount {
  /** Path on this machine. */
  readonly source: string
  /** Mount point in the image. */
  readonly target: string
  readonly writable?: boolean
}

export interface ContainerOptions {
  /** Mount point of the image's file system. */
  readonly root: string
  readonly image: ImageConfig
  readonly args: readonly string[]
  readonly mounts: readonly Mount[]
  readonly env?: Readonly<Record<string, string>>
  readonly logFile?: string
  readonly entrypoint?: readonly string[]
}

/**
 * Starts an image as an orchestrator does, but in the machine's network. The process has a read-only root, its own
 * mounts and processes, the image's user without privileges, and only the given environment.
 */
const script = `
root=$1; user=$2; count=$3; shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
while [ "$count" -gt 0 ]; do
  mount --bind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  shift 3; count=$((count - 1))
done
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root/dev"
for device in null zero random urandom; do : > "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
cd "$root"
exec setpriv --no-new-privs chroot --userspec="$user" "$root" "$@"
`

export interface Container {
  /** The process that started the container, and that ends in the same way as the container. */
  readonly child: Child
  /** Pid of the container's process on this machine. */
  readonly pid: number
  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves with how the process ended. */
  stop(graceMs?: number): Promise<string | undefined>
}

/** Starts an image, and resolves once its process runs. Needs root. */
export async function startContainer({ root, image, args, mounts, env = {}, logFile, entrypoint }: ContainerOptions): Promise<Container> {
  await Promise.all(mounts.map(({ source }) => mkdir(source, { recursive: true })))
  const listed = mounts.flatMap(({ source, target, writable }) => [source, target, writable ? 'rw' : 'ro'])
  const command = [...(entrypoint ?? image.Entrypoint), ...args]
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--ipc', '--uts']
  const own = Object.fromEntries(image.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  const child = await startChild(
    'unshare',
    [...namespaces, 'sh', '-euc', script, 'container', root, image.User, String(mounts.length), ...listed, ...command],
    { env: { PATH: process.env['PATH'], ...own, ...env }, ...(logFile && { logFile }) },
  )
  const inner = async () => Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')) || undefined
  const pid = await until(inner, { timeoutMs: 10_000, everyMs: 10, what: 'the process to be there', giveUp: () => child.ended })
  const stop = async (graceMs = 30_000) => {
    // Sends the signal to the container's process, not to its parent.
    if (child.ended === undefined) process.kill(pid, 'SIGTERM')
    const timer = setTimeout(() => process.kill(pid, 'SIGKILL'), graceMs)
    await child.exited
    clearTimeout(timer)
    return child.ended
  }
  return { child, pid, stop }
}
