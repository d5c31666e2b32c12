import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'
import { startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { type Child, startChild } from '../../lab/devnet/child.ts'
import { startTemporal } from '../../lab/devnet/temporal/temporal.ts'
import { until } from '../../lab/devnet/until.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const launcher = fileURLToPath(new URL('../../bin/portage.js', import.meta.url))
export const chainId = 31_400

interface Answer {
  readonly status: number
  readonly text: string
}

/** Starts processes of `portage run` and the servers that they need. All are stopped after each test. */
export function useProcesses() {
  const folder = temporaryFolder()
  const running: Child[] = []
  const servers: { stop(): Promise<void> }[] = []
  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop(15_000)
    for (const one of servers.splice(0)) await one.stop()
  })
  const serve = async <Server extends { stop(): Promise<void> }>(server: Promise<Server>): Promise<Server> => {
    servers.push(await server)
    return server
  }
  return {
    folder,
    async start(args: readonly string[], logFile: string, env: Readonly<Record<string, string>> = {}): Promise<Child> {
      const child = await startChild(process.execPath, [launcher, ...args], { logFile, env: { ...process.env, ...env } })
      running.push(child)
      return child
    },
    anvilAt: (port: number) => serve(startAnvil({ chainId, blockTimeSeconds: 0.5, port })),
    temporalAt: (port: number) => serve(startTemporal({ port, inMemory: true, headless: true, log: () => {} })),
  }
}

/** Config of a chain with half-second blocks. The URL of its node has a key. */
export function chainAt(node: number, lanes: readonly object[] = []) {
  return { family: 'evm', networkId: chainId, blockTimeMs: 500, lanes, nodes: [{ url: `http://127.0.0.1:${node}/?key=secret-key` }] }
}

export function requestsTo(child: Child, port: number) {
  const ask = async (route: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}${route}`, init)
    return { status: response.status, text: await response.text() }
  }
  const seen = (route: string, sees: (answer: Answer) => boolean, what: string, init?: RequestInit) => {
    let last = 'nothing'
    const look = async () => {
      const answer = await ask(route, init).catch((error: unknown) => ({ status: 0, text: String(error) }))
      last = `${answer.status} ${answer.text}`
      return sees(answer) && answer
    }
    return until(look, { timeoutMs: 90_000, everyMs: 50, what, giveUp: giveUp(child) }).catch((error: unknown) => {
      throw new Error(`${String(error)}; last: ${last}; ${child.tail()}`, { cause: error })
    })
  }
  return { ask, seen }
}

export function giveUp(child: Child) {
  return () => child.ended && `${child.ended}: ${child.tail()}`
}

export async function linesOf(logFile: string) {
  const lines = (await readFile(logFile, 'utf8')).split('\n').slice(0, -1)
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: string; message: string; code?: string; port?: number })
}
