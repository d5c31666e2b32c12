import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { streamNames } from '../../bridges/configured-emitters.ts'
import { loadConfig } from '../../config/load/load.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { makeToken } from '../../lab/devnet/access.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { applyToStream } from '../../temporal/client/streams/streams.ts'
import { startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { deadConfig } from '../api/setting.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { type Ledgers, startLedgers } from '../lanes/setting.ts'
import { runCli } from './run-cli.ts'
import { temporaryFolder } from '../helpers/folders.ts'

/** Transfers on a real Temporal. Their chains have no worker, so only the server knows them. */
const folder = temporaryFolder()
let file = ''
let ledgers: Ledgers
const emitter = 'ab'.repeat(32)

function wormholeTransfer(sequence: number): Transfer {
  const digest = `0x${createHash('sha256').update(`transfer ${sequence}`).digest('hex')}`
  return { ...nativeTransfer(sequence), bridge: 'wormhole-token-bridge', sourceId: '2', emitter, digest }
}

const transfers = Array.from({ length: 5 }, (_, index) => wormholeTransfer(269_170 + index))
const native = nativeTransfer(17, { sourceId: '1337', digest: `0x${createHash('sha256').update('native').digest('hex')}` })
const ids = transfers.map(transferId)
const first = transfers[0]!

const cli = (...argv: string[]) => runCli([...argv, '--config', file])
const signalsOf = async (id: string) => {
  const { events } = await ledgers.temporal.client.workflow.getHandle(id).fetchHistory()
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [])
}

beforeAll(async () => {
  file = join(folder, 'portage.yaml')
  ledgers = await startLedgers()
  const { chains, bridges } = deadConfig(await freePort())
  await writeFile(file, stringify(JSON.parse(JSON.stringify({ temporal: { address: ledgers.server.address }, chains, bridges }))))
  await Promise.all([...transfers, native].map((transfer) => startTransfer(ledgers.temporal.client, transferId(transfer), { transfer })))
  const listed = async () => ((await cli('transfer', 'list', '--json')).json() as { transfers: object[] }).transfers.length === 6
  await until(listed, { timeoutMs: 60_000, everyMs: 100, what: 'all transfers to be listed' })
})
afterAll(async () => {
  await ledgers?.stop()
})

test('an order by a filter is shown, confirmed and then sent to each transfer', async () => {
  const filter = ['--bridge', 'wormhole-token-bridge', '--target', 'bsc', '--reason', 'a test', '--json'] as const
  expect((await cli('transfer', 'expedite', ...filter, '--dry-run')).json()).toMatchObject({ dryRun: true, matched: 5, more: false })
  const asked = await cli('transfer', 'expedite', ...filter)
  expect([asked.code, asked.json()]).toMatchObject([1, { error: { code: 'INPUT_INVALID', message: expect.stringContaining('--yes') } }])
  expect((await Promise.all(ids.map(signalsOf))).flat()).toEqual([])
  const some = (await cli('transfer', 'retry', ...filter, '--limit', '2', '--yes')).json() as { results: { id: string; result: string }[] }
  expect(some).toMatchObject({ matched: 2, more: true, results: [{ result: 'woken' }, { result: 'woken' }] })
  expect((await cli('transfer', 'expedite', ...filter, '--yes')).json()).toMatchObject({ matched: 5, more: false })
  const told = await Promise.all(ids.map(signalsOf))
  expect(told.filter((signals) => signals.includes('retry'))).toHaveLength(2)
  expect(told.every((signals) => signals.includes('expedite'))).toBe(true)
  const one = await cli('transfer', 'cancel', first.digest.slice(2, 18), '--reason', 'a test', '--json')
  expect(one.json()).toEqual({ id: ids[0], asked: 'cancel' })
  expect(await signalsOf(ids[0]!)).toContain('cancel')
  expect(await signalsOf(transferId(native))).toEqual([])
})

test.each([
  ['--chain', 'polygon', 'no chain is called polygon; there are: '],
  ['--target', 'wormhole', 'no chain is called wormhole; there are: '],
  ['--bridge', 'portal', 'no bridge is called portal; there are: wormhole-token-bridge'],
])('a list with %s %s is refused, because the config has no such name', async (option, name, message) => {
  const { code, json } = await cli('transfer', 'list', option, name, '--json')
  expect([code, json()]).toMatchObject([1, { error: { code: 'INPUT_INVALID', message: expect.stringContaining(message) } }])
})

test('a list of transfers from a chain of Wormhole that the config does not have is empty', async () => {
  expect((await cli('transfer', 'list', '--source', 'wormhole-1', '--json')).json()).toEqual({ transfers: [] })
})

test('a transfer whose number is in a gap of a stream is not reported as unknown', async () => {
  const config = { stream: 'native-bridge:ethereum:bsc', origin: `1337/0x${'c3'.repeat(20)}`, first: '1', maxOpen: 10 }
  const seen = { kind: 'seen', numbers: [['9']] } as const
  const { idOf } = streamNames(await loadConfig(file, {}))
  await applyToStream(ledgers.temporal.client, idOf(config.stream), { requests: [seen] }, { begin: () => ({ config }) })
  const listed = async () => (await cli('stream', 'list', '--json')).out.includes(config.stream)
  await until(listed, { timeoutMs: 60_000, everyMs: 100, what: 'the stream to be listed' })
  for (const given of ['ethereum:bsc:4', 'ethereum/4', `1337/0x${'c3'.repeat(20)}/4`]) {
    const { code, json } = await cli('transfer', 'show', given, '--json')
    const facts = { stream: config.stream, number: '4', gap: 'unasked' }
    expect([code, json()]).toMatchObject([1, { error: { code: 'TRANSFER_IN_GAP', facts } }])
  }
  for (const given of ['ethereum:bsc:40', 'bsc/4', 'ethereum/0xab/4'])
    expect((await cli('transfer', 'show', given, '--json')).json()).toMatchObject({ error: { code: 'TRANSFER_NOT_FOUND' } })
})

test('a nonce and a transaction together are refused, since an order would ignore one of them', async () => {
  const both = ['--lane', `evm-1397:0x${'a'.repeat(40)}`, '--nonce', '1', '--tx', `0x${'a'.repeat(64)}`]
  const { json } = await cli('transfer', 'cancel', ...both, '--yes', '--reason', 'a test', '--json')
  expect(json()).toMatchObject({ error: { code: 'INPUT_INVALID', message: expect.stringContaining('either a nonce or a transaction') } })
})

test('a token for one chain must name that target in the filter of an order', async () => {
  const PORTAGE_TOKEN = await makeToken(await loadConfig(file, {}), { name: 'desk', level: 'write', chains: ['ethereum'] })
  const order = async (...argv: string[]) => {
    const { json } = await runCli(['transfer', 'retry', ...argv, '--dry-run', '--reason', 'x', '--json', '--config', file], {
      env: { PORTAGE_TOKEN },
    })
    return (json()['error'] as { code: string } | undefined)?.code
  }
  expect(await order('--state', 'admitting')).toBe('ACCESS_SCOPE')
  expect(await order('--state', 'admitting', '--target', 'bsc')).toBe('ACCESS_SCOPE')
  expect(await order('--state', 'admitting', '--target', 'ethereum')).toBeUndefined()
})

/** The command reads a terminated transfer from its history, so no test waits for a worker. */
describe('found and shown', () => {
  beforeAll(async () => {
    const end = (id: string) => ledgers.temporal.client.workflow.getHandle(id).terminate('a test')
    await Promise.all([...ids, transferId(native)].map(end))
    const listed = async () => (await cli('transfer', 'list', '--undone')).out.split('terminated').length === 7
    await until(listed, { timeoutMs: 60_000, everyMs: 100, what: 'all to be listed as terminated' })
  })

  test('a list fits 80 columns, with ids that commands accept; with --wide it has whole ids', async () => {
    const { out } = await cli('transfer', 'list')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    const short = out
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/\s+/).at(-1) ?? '')
    expect(short).toHaveLength(6)
    for (const one of short) expect((await cli('transfer', 'show', one, '--json')).code).toBe(0)
    expect((await cli('transfer', 'list', '--wide')).out).toContain(ids[0])
  })

  test.each([
    ['its id', ids[0]],
    ['the beginning of its end', first.digest.slice(2, 10)],
    ['its digest', first.digest],
    ['its digest without 0x, in capitals', first.digest.slice(2).toUpperCase()],
    ['chain/emitter/sequence by the number of Wormhole, as send.ts prints it', `2/${emitter}/${first.sequence}`],
    ['the same by our name', `ethereum/${emitter}/${first.sequence}`],
    ['the same with 0x and colons', `2:0x${emitter}:${first.sequence}`],
  ])('a transfer is found by %s', async (_, given) => {
    const { code, out } = await cli('transfer', 'show', given ?? '', '--json')
    expect([code, (JSON.parse(out) as { id?: string }).id]).toEqual([0, ids[0]])
  })

  test('a native transfer is found by the output of send.ts, and by route and nonce', async () => {
    for (const given of ['ethereum/17', 'ethereum:bsc:17']) {
      expect((await cli('transfer', 'show', given, '--json')).json()).toMatchObject({ id: transferId(native) })
    }
  })

  test('an unknown or ambiguous transfer is an error with the candidates', async () => {
    expect((await cli('transfer', 'show', '0123456789abcdef', '--json')).json()).toMatchObject({ error: { code: 'TRANSFER_NOT_FOUND' } })
    const { json } = await cli('transfer', 'show', 'wormhole-token-bridge:2:', '--json')
    expect(json()).toMatchObject({ error: { code: 'TRANSFER_AMBIGUOUS', facts: { candidates: expect.stringContaining(ids[0]!) } } })
  })
})

test('an escape sequence in an argument does not reach the terminal', async () => {
  const { code, err, out } = await cli('transfer', 'show', 'nothing\u001b]0;owned\u0007')
  expect(code).toBe(1)
  expect(err).toContain('TRANSFER_NOT_FOUND')
  expect(out + err).not.toContain('\u001b')
  expect(out + err).not.toContain('\u0007')
})
