import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { Child } from '../../lab/devnet/child.ts'
import { bearer, makeToken } from '../../lab/devnet/access.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Role } from '../../workers/roles/roles.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { chainAt, linesOf, requestsTo, useProcesses } from './process-setting.ts'

describe('a process whose dependencies are not there yet', () => {
  const { folder, start, anvilAt, temporalAt } = useProcesses()

  interface Place {
    readonly temporal: number
    readonly node: number
    readonly namespace?: string
    readonly lanes?: object[]
  }

  async function portage(role: Role, { temporal, node, namespace = 'default', lanes }: Place) {
    const port = await freePort()
    const path = join(folder, `${port}.yaml`)
    const logFile = join(folder, `${port}.log`)
    const config = {
      temporal: { address: `127.0.0.1:${temporal}`, namespace, useEnvironment: false },
      chains: { one: chainAt(node, lanes) },
      bridges: {},
      api: { port },
    }
    await writeFile(path, stringify(config))
    const child = await start(['--config', path, 'run', '--role', role], logFile)
    const { ask, seen } = requestsTo(child, port)
    const waitsFor = (code: string) => seen('/ready', ({ status, text }) => status === 503 && text.includes(code), `to wait: ${code}`)
    const isReady = () => seen('/ready', ({ status }) => status === 200, 'to be ready')
    const lines = () => linesOf(logFile)
    const admin = bearer(await makeToken({ dataFolder: join(folder, 'portage-data'), temporal: { namespace } }))
    return { admin, child, ask, seen, waitsFor, isReady, lines }
  }

  const ended = async ({ child }: { child: Child }) => {
    await child.exited
    return child.ended
  }

  test('a process waits for Temporal, then for nodes, reports both, and survives an outage', async () => {
    const at = { temporal: await freePort(), node: await freePort() }
    const process = await portage('all', at)
    await process.waitsFor('Temporal server cannot be reached')
    expect(await process.ask('/health')).toMatchObject({ status: 200 })
    const refused = await process.ask('/v1/transfers', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([503, { code: 'TEMPORAL_UNAVAILABLE' }])

    const temporal = await temporalAt(at.temporal)
    expect((await process.waitsFor('No node of the chain gave a usable answer')).text).not.toContain('secret-key')
    await anvilAt(at.node)
    await process.isReady()
    const waits = async () => (await process.lines()).filter(({ message }) => message.startsWith('waiting for'))
    const isKnown = async () => (await waits()).some(({ code }) => code === 'NODE_UNAVAILABLE')
    await until(isKnown, { timeoutMs: 60_000, what: 'both in the log' })
    expect((await waits()).map(({ level, message, code }) => [level, message, code])).toEqual([
      ['warn', 'waiting for Temporal; trying again until success', 'TEMPORAL_UNAVAILABLE'],
      ['warn', 'waiting for nodes; trying again until success', 'NODE_UNAVAILABLE'],
    ])

    await temporal.kill('SIGKILL')
    const away = await process.ask('/v1/transfers', { headers: process.admin })
    expect([away.status, JSON.parse(away.text)]).toMatchObject([503, { code: 'TEMPORAL_UNAVAILABLE' }])
    // The process caches for a second whether Temporal answers, so wait until it reports the outage.
    await process.waitsFor('Temporal server cannot be reached')
    expect(await process.ask('/health')).toMatchObject({ status: 200 })
    await temporal.restart()
    await process.isReady()
    // The settings change only if the worker of the queue `ledger` is polling again.
    const orders = [{ kind: 'halt', scope: {} }]
    const halt = { reason: 'Temporal is back', orders }
    const init = { method: 'POST', body: JSON.stringify(halt), headers: { 'content-type': 'application/json', ...process.admin } }
    await process.seen('/v1/settings', ({ status }) => status === 200, 'to obey an order', init)
    const lines = await process.lines()
    // Each start warns that anybody can use the dev server.
    const expected = /^(waiting for|Temporal is reached in plain text)/
    const problems = lines.filter(({ level, message }) => /warn|error/.test(level) && !expected.test(message))
    const kinds = problems.map(({ message }) => message)
    expect(kinds).toContain('request failed')
    // The process warns once that it cannot read the settings, and only after a long outage of Temporal. It does not
    // repeat the warning before Temporal is back.
    const unread = 'the settings cannot be read; '
    const others = kinds.filter((kind) => kind !== 'request failed' && !kind.startsWith(unread))
    expect(others.filter((kind) => kind !== 'the schedule of the audits could not be set; trying again')).toEqual([])
    const reads = lines.map(({ message }) => message.startsWith(unread) || (message === 'the settings are read again' ? false : undefined))
    const turns = reads.filter((each) => each !== undefined)
    expect(turns).toEqual(turns.map((_, index) => index % 2 === 0))
    process.child.kill('SIGTERM')
    expect(await ended(process)).toBe('ended with code 0')
  })

  test('a waiting process ends cleanly when it is stopped', async () => {
    const at = { temporal: await freePort(), node: await freePort() }
    const withoutTemporal = await portage('api', at)
    await withoutTemporal.waitsFor('Temporal server cannot be reached')
    withoutTemporal.child.kill('SIGTERM')
    expect(await ended(withoutTemporal)).toBe('ended with code 0')
    await temporalAt(at.temporal)
    const withoutNode = await portage('all', at)
    await withoutNode.waitsFor('No node of the chain gave a usable answer')
    withoutNode.child.kill('SIGTERM')
    expect(await ended(withoutNode)).toBe('ended with code 0')
  })

  test('a process names a missing namespace and its command, and goes on once it exists', async () => {
    const at = { temporal: await freePort(), node: await freePort(), namespace: 'elsewhere' }
    const [temporal] = await Promise.all([temporalAt(at.temporal), anvilAt(at.node)])
    const process = await portage('all', at)
    const { text } = await process.waitsFor('does not have the namespace')
    expect(text).toContain('portage setup temporal')
    // The request has no token, so the answer must not name the namespace. The log names it.
    expect(text).not.toContain('elsewhere')
    const isNamed = async () => JSON.stringify(await process.lines()).includes('namespace=elsewhere')
    await until(isNamed, { timeoutMs: 60_000, what: 'the log to name the namespace' })
    await runTemporalCli(temporal, ['operator', 'namespace', 'create', '--namespace', 'elsewhere', '--retention', '24h'])
    await process.isReady()
  })

  test('a failed start ends with its reason', async () => {
    const at = { temporal: await freePort(), node: await freePort() }
    await Promise.all([temporalAt(at.temporal), anvilAt(at.node)])
    // The process must end, although the worker of `ledger` exists before the process notices the missing key.
    const lane = { address: `0x${'1'.repeat(40)}`, signer: { kind: 'environment', variable: 'NO_SUCH_KEY_IS_SET' } }
    const process = await portage('all', { ...at, lanes: [lane] })
    expect(await ended(process)).toBe('ended with code 1')
    // The last output of a process may be read after its end.
    await until(() => process.child.tail().includes('SIGNER_UNAVAILABLE'), { timeoutMs: 60_000, what: 'the reason' })
    expect(process.child.tail()).toContain('SIGNER_UNAVAILABLE')
  })
})
