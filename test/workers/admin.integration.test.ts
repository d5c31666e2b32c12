import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { createPollLook } from '../../workers/process/poll-watch.ts'
import { roles, type Role } from '../../workers/roles/roles.ts'
import { chainAt, giveUp, linesOf, requestsTo, useProcesses } from './process-setting.ts'

const laneKey = devnetAccount(0)
const { folder, start, anvilAt, temporalAt } = useProcesses()

async function configFile({ temporal, node }: { readonly temporal: number; readonly node: number }): Promise<string> {
  const path = join(folder, 'portage.yaml')
  const test = chainAt(node, [{ address: laneKey.address, signer: { kind: 'environment', variable: 'ADMIN_TEST_KEY' } }])
  const api = { port: await freePort() }
  await writeFile(
    path,
    stringify({ temporal: { address: `127.0.0.1:${temporal}`, useEnvironment: false }, chains: { test }, bridges: {}, api }),
  )
  return path
}

async function portage(role: Role, config: string) {
  const logFile = join(folder, `${role}-${randomUUID()}.log`)
  const child = await start(['--config', config, 'run', '--role', role], logFile, { ADMIN_TEST_KEY: laneKey.privateKey })
  const portOf = async () => (await linesOf(logFile)).find(({ message }) => message === 'the admin port listens')?.port
  const port = await until(portOf, { timeoutMs: 60_000, what: `the admin port of ${role}`, giveUp: giveUp(child) })
  const { ask, seen } = requestsTo(child, port)
  const waitsFor = (...names: string[]) =>
    seen(
      '/readyz',
      ({ status, text }) =>
        status === (names.length === 0 ? 200 : 503) && (JSON.parse(text) as { waitsFor: string[] }).waitsFor.join() === names.join(),
      `${role} to wait for ${names.join(', ') || 'nothing'}`,
    )
  return { role, child, port, ask, waitsFor }
}

test('each role serves health, readiness and metrics before and after its dependencies are there', async () => {
  const at = { temporal: await freePort(), node: await freePort() }
  const config = await configFile(at)
  // Combined roles are left out, because they would use the port of the role `api`.
  const single = roles.filter((role) => role !== 'all' && role !== 'keyless')
  const all = await Promise.all(single.map((role) => portage(role, config)))
  expect(new Set(all.map(({ port }) => port)).size).toBe(all.length)
  await Promise.all(all.map(({ waitsFor }) => waitsFor('temporal')))
  for (const { ask } of all) expect(await ask('/healthz')).toEqual({ status: 200, text: 'ok\n' })

  const temporal = await temporalAt(at.temporal)
  const [ledger, ...others] = all.toSorted((a, b) => Number(b.role === 'ledger') - Number(a.role === 'ledger'))
  await Promise.all([ledger!.waitsFor(), ...others.map(({ waitsFor }) => waitsFor('chain test'))])

  const anvil = await anvilAt(at.node)
  await Promise.all(all.map(({ waitsFor }) => waitsFor()))
  for (const { role, ask } of all) {
    // The core of the SDK counts the requests of a process to Temporal, whatever its role is.
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
    // Only a process with Workers knows which queues they poll.
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
  const args = ['--config', config, 'run', '--role', 'lane', '--admin-port', String(first.port)]
  const second = await start(args, join(folder, 'second.log'))
  await second.exited
  await until(() => second.tail().includes('ADMIN_LISTEN'), { timeoutMs: 60_000, what: 'the reason' })
  expect(second.ended).toBe('ended with code 1')
  expect(second.tail()).toMatch(/admin\.port=\d+ reason=EADDRINUSE[^]*admin\.port` in the config, or `--admin-port/)
})
