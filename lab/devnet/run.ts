import { spawn } from 'node:child_process'

export interface RunResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly timedOut: boolean
}

export interface RunOptions {
  readonly timeoutMs?: number
  readonly env?: NodeJS.ProcessEnv
  readonly onLine?: (line: string) => void
}

/** Runs a command until it ends. Never throws: if the command is missing, the code is -1. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: options.env ?? process.env })
    let stdout = ''
    let stderr = ''
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, options.timeoutMs ?? 600_000)
    const end = (code: number, note = '') => {
      clearTimeout(timer)
      resolve({ code, stdout, stderr: stderr + note, timedOut })
    }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk
      for (const line of chunk.split('\n')) if (line.trim()) options.onLine?.(line)
    })
    child.once('error', (error) => end(-1, error.message))
    child.once('close', (code) => end(code ?? -1))
  })
}
