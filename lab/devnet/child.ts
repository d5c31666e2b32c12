import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { Socket } from 'node:net'

/** A server process of the devnet. Ends when the process that started it ends, even by SIGKILL. */
export interface Child {
  readonly pid: number
  readonly ended: string | undefined
  /** Resolves when the process has ended. Never rejects. */
  readonly exited: Promise<void>
  /** Sends SIGTERM, then SIGKILL after `graceMs` (default 5,000). Resolves when the process has ended. */
  stop(graceMs?: number): Promise<void>
  /** Sends a signal without waiting. Await `exited` after a signal that ends the process. */
  kill(signal: NodeJS.Signals): void
  tail(): string
}

export interface ChildOptions {
  readonly logFile?: string
  readonly env?: NodeJS.ProcessEnv
}

const tailLength = 4_000
const running = new Set<ChildProcess>()
let exitHook = false

/** Starts a child in a process group of its own. Ctrl-C then reaches only the parent, which shuts the child down. */
export async function startChild(command: string, args: readonly string[], options: ChildOptions = {}): Promise<Child> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: options.env ?? process.env })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  const pid = child.pid as number
  const guard = startGuard(pid)
  killAllOnExit(child)
  let ended: string | undefined
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = signal ? `ended by ${signal}` : `ended with code ${code}`
      running.delete(child)
      guard.kill('SIGKILL')
      resolve()
    })
  })
  const tail = keepTail(child, options.logFile)
  unreference(child)
  return {
    pid,
    get ended() {
      return ended
    },
    // The caller waits for the end of the child, so the child must keep the event loop alive until then.
    get exited() {
      child.ref()
      return exited
    },
    tail,
    kill: (signal) => void child.kill(signal),
    stop: (graceMs = 5_000) => stop(child, exited, graceMs),
  }
}

/** Children do not keep the script alive. When the script ends, they are killed. */
function unreference(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref()
}

async function stop(child: ChildProcess, exited: Promise<void>, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  child.kill('SIGTERM')
  child.kill('SIGCONT')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await exited
  clearTimeout(timer)
}

/** Starts a shell that ends the child when this process ends, even by SIGKILL, because the shell's input then ends. */
function startGuard(pid: number): ChildProcess {
  const script = 'read -r _; kill -TERM "$0" 2>/dev/null && sleep 2 && kill -KILL "$0" 2>/dev/null'
  const guard = spawn('/bin/sh', ['-c', script, String(pid)], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.on('error', () => {})
  guard.stdin?.on('error', () => {})
  unreference(guard)
  return guard
}

function killAllOnExit(child: ChildProcess): void {
  running.add(child)
  if (exitHook) return
  exitHook = true
  process.on('exit', () => {
    for (const one of running) one.kill('SIGKILL')
  })
}

function keepTail(child: ChildProcess, logFile: string | undefined): () => string {
  let text = ''
  const file = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' })
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8')
    stream?.on('data', (chunk: string) => {
      text = (text + chunk).slice(-tailLength)
      file?.write(chunk)
    })
  }
  child.once('close', () => file?.end())
  return () => text.trim()
}
