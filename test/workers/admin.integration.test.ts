import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { type Child, startChild } from '../../lab/devnet/child.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { startTemporal } from '../../lab/devnet/temporal/temporal.ts'
import { until } from '../../lab/devnet/until.ts'
import { createPollLook } from '../../workers/process/poll-watch.ts'
import { roles, type Role } from '../../workers/roles/roles.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const launcher = fileURLToPath(new URL('../../bin/portage.js', import.meta.url))
const chainId = 31_401
/** Of an account that anvil knows. */
const laneKey = devnetAccount(0)

const folder = temporaryFolder()
const running: Child[] = []
const servers: { stop(): Promise<void> }[] = []

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop(15_000)
  for (const one of servers.splice(0)) await one.stop()
})

interface Place {
  readonly temporal: number
  readonly node: number
}

/** All processes have the same config file, as on one machine of a fleet. */
async function configFile({ temporal, node }: Place): Promise<string> {
  const path = join(folder, 'portage.yaml')
  const chain = {
    ...{ family: 'evm', networkId: chainId, nodes: [{ url: `http://127.0.0.1:${node}/?key=secret-key` }], blockTimeMs: 500 },
    lanes: [{ address: laneKey.address, signer: { kind: 'environment', variable: 'ADMIN_TEST_KEY' } }],
  }
  const api = { port: await freePort() }
  await writeFile(
    path,
    stringify({ temporal: { address: `127.0.0.1:${temporal}`, useEnvironment: false }, chains: { test: chain }, bridges: {}, api }),
  )
  return path
}

async function portage(role: Role, config: string, ...args: string[]) {
  const logFile = join(folder, `${role}-${randomUUID()}.log`)
  const child = await startChild(process.execPath, [launcher, '--config', config, 'run', '--role', role, ...args], {
    logFile,
    env: { ...process.env, ADMIN_TEST_KEY: laneKey.privateKey },
  })
  running.push(child)
  const portOf = async () => {
    const lines = (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(0, -1)
    const said = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as { message: string; port?: number })
    return said.find(({ message }) => message === 'the admin port listens')?.port
  }
  const giveUp = () => child.ended && `${child.ended}: ${child.tail()}`
  const port = await until(portOf, { timeoutMs: 60_000, what: `the admin port of ${role}`, giveUp })
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: response.status, text: await response.text() }
  }
  /** Until it is ready, or waits for exactly these. */
  const waitsFor = async (...names: string[]) => {
    let last = 'nothing'
    const look = async () => {
      const { status, text } = await ask('/readyz')
      last = text
      const answer = JSON.parse(text) as { ready: boolean; waitsFor: string[] }
      return status === (names.length === 0 ? 200 : 503) && answer.waitsFor.join() === names.join() && answer
    }
    const what = `${role} to wait for ${names.join(', ') || 'nothing'}`
    return until(look, { timeoutMs: 90_000, everyMs: 100, what, giveUp }).catch((error: unknown) => {
      throw new Error(`${String(error)}; last: ${last}; ${child.tail()}`, { cause: error })
    })
  }
  return { role, child, port, ask, waitsFor }
}

test('each role serves health, readiness and metrics before and after its dependencies are there', async () => {
  const at = { temporal: await freePort(), node: await freePort() }
  const config = await configFile(at)
  const all = await Promise.all(roles.filter((role) => role !== 'all').map((role) => portage(role, config)))
  expect(new Set(all.map(({ port }) => port)).size).toBe(all.length)
  await Promise.all(all.map(({ waitsFor }) => waitsFor('temporal')))
  for (const { ask } of all) expect(await ask('/healthz')).toEqual({ status: 200, text: 'ok\n' })

  const temporal = await startTemporal({ port: at.temporal, inMemory: true, headless: true, log: () => {} })
  servers.push(temporal)
  const [ledger, ...others] = all.toSorted((a, b) => Number(b.role === 'ledger') - Number(a.role === 'ledger'))
  await Promise.all([ledger!.waitsFor(), ...others.map(({ waitsFor }) => waitsFor('chain test'))])

  const anvil = await startAnvil({ chainId, blockTimeSeconds: 0.5, port: at.node })
  servers.push(anvil)
  await Promise.all(all.map(({ waitsFor }) => waitsFor()))
  for (const { role, ask } of all) {
    // `temporal_…`: of the core of the SDK, which counts what a process asks of the server, whatever its role.
    const wanted = [
      `portage_process_ready{role="${role}"} 1`,
      '\ntemporal_request_total{',
      ...(role === 'ledger' ? [] : ['portage_rpc_calls_total{chain="test",']),
    ]
    let text = ''
    const isThere = async () => {
      text = (await ask('/metrics')).text
      return wanted.every((part) => text.includes(part))
    }
    await until(isThere, { timeoutMs: 60_000, what: `${wanted.join(', ')} in the metrics of ${role}` })
    // A process with Workers knows which queues they poll.
    let now = 0
    const look = createPollLook(new Set(['ledger', 'chain:test']), () => (now += 20_000))
    const unpolled = Array.from({ length: 15 }, () => look(text))
      .at(-1)
      ?.map(({ taskQueue, polls }) => `${taskQueue} ${polls}`)
    if (role === 'ledger') expect(unpolled).toEqual(['ledger PollWorkflowTaskQueue'])
    if (role === 'chain') expect(unpolled?.toSorted()).toEqual(['chain:test PollActivityTaskQueue', 'chain:test PollWorkflowTaskQueue'])
    expect(text).not.toContain('secret-key')
    expect(text).not.toContain(laneKey.privateKey.slice(2))
  }

  await anvil.stop()
  await Promise.all(others.map(({ waitsFor }) => waitsFor('chain test')))
  for (const { child } of others) child.kill('SIGTERM')
  for (const { child } of others) await child.exited
  expect(others.map(({ child }) => child.ended)).toEqual(others.map(() => 'ended with code 0'))
  await temporal.kill('SIGKILL')
  await ledger!.waitsFor('temporal')
  expect(await ledger!.ask('/healthz')).toEqual({ status: 200, text: 'ok\n' })
})

test('two processes with one port: the second ends, and names the field', async () => {
  const config = await configFile({ temporal: await freePort(), node: await freePort() })
  const first = await portage('ledger', config)
  const second = await startChild(
    process.execPath,
    [launcher, '--config', config, 'run', '--role', 'lane', '--admin-port', String(first.port)],
    {
      logFile: join(folder, 'second.log'),
    },
  )
  running.push(second)
  await second.exited
  await until(() => second.tail().includes('ADMIN_LISTEN'), { timeoutMs: 60_000, what: 'the reason' })
  expect(second.ended).toBe('ended with code 1')
  expect(second.tail()).toMatch(/admin\.port=\d+ reason=EADDRINUSE[^]*admin\.port` in the config, or `--admin-port/)
})
