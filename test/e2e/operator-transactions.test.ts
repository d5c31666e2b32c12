import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createArchiveStore } from '../../operations/archive/create-store.ts'
import { exportOrders } from '../../operations/archive/orders.ts'
import type { TransferRecord } from '../../operations/archive/records.ts'
import { archiveTransfers } from '../../operations/archive/transfers.ts'
import { main } from '../../cli/main.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { operatorTransactionResult } from '../../temporal/client/lanes/operator-transactions.ts'
import { readKeptOrders } from '../../temporal/client/settings/kept-orders.ts'
import { until } from '../../lab/devnet/until.ts'
import { runCli } from '../cli/run-cli.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const
const ether = 10n ** 18n

/** On bsc, the policy names a treasury, allows top-ups and has no limits. On ethereum, the policy is the default. */
describe('Operator transactions', () => {
  let stage: Stage
  let portage: PortageProcess
  let lanes: string[]
  const treasury = freshAddress()
  const rpc = <Result>(method: string, params: readonly unknown[]) => stage.devnet.chains.bsc.anvil.rpc<Result>(method, params)
  const balance = async (address: string) => BigInt(await rpc<string>('eth_getBalance', [address, 'latest']))
  const count = async (address: string) => Number(await rpc<string>('eth_getTransactionCount', [address, 'latest']))
  const word = (address: string) => address.slice(2).padStart(64, '0')
  const tokens = async (token: string, owner: string) =>
    BigInt(await rpc<string>('eth_call', [{ to: token, data: `0x70a08231${word(owner)}` }, 'latest']))
  const laneOn = async (chain: 'ethereum' | 'bsc', ...args: string[]) => {
    const { code, out, err } = await runCli(['lane', ...args, '--chain', chain, '--wait', '--json', '--config', portage.configPath], {
      env: { ...process.env, ...stage.devnet.env },
    })
    return { code, err, status: (out.trim() ? JSON.parse(out) : {}) as { state?: string; detail?: string; nonce?: number } }
  }

  const lane = (...args: string[]) => laneOn('bsc', ...args)

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200, keysPerChain: 2 })
    lanes = stage.devnet.lanes.filter(({ chain }) => chain === 'bsc').map(({ address }) => address)
    const { weth } = stage.devnet.chains.bsc
    portage = await stage.portage({
      configure: (config) => {
        const bsc = config.chains['bsc']!
        const most = String(10_000_000n * ether)
        const signing = { topUps: true, maxPaymentWei: most, maxSpendingPerHourWei: most, maxSpendingPerDayWei: most }
        return { ...config, chains: { ...config.chains, bsc: { ...bsc, signing, treasury: { address: treasury, tokens: [weth] } } } }
      },
    })
    await stage.outcomes(await stage.send('ethereum', [coin, coin]))
  })
  afterAll(() => stage?.close())

  test('lanes pay the treasury, top up each other, and sweep; every nonce is the ledger’s', async () => {
    const [first, second] = lanes as [string, string]
    const before = await count(first)
    expect(await lane('send', first, '--to', treasury, '--value', '7', '--reason', 'a test')).toMatchObject({
      code: 0,
      status: { state: 'done', nonce: before },
    })
    expect(await balance(treasury)).toBe(7n)

    const had = await balance(second)
    expect(await lane('top-up', second, '--from', first, '--amount', String(ether), '--reason', 'a test')).toMatchObject({
      code: 0,
      status: { nonce: before + 1 },
    })
    expect(await balance(second)).toBe(had + ether)

    const { weth } = stage.devnet.chains.bsc
    const payer = freshAddress()
    await rpc('anvil_setBalance', [payer, `0x${(10n * ether).toString(16)}`])
    await rpc('anvil_impersonateAccount', [payer])
    await rpc('eth_sendTransaction', [{ from: payer, to: weth, data: '0xd0e30db0', value: '0x64' }])
    const transfer = `0xa9059cbb${word(first)}${(100).toString(16).padStart(64, '0')}`
    await rpc('eth_sendTransaction', [{ from: payer, to: weth, data: transfer }])
    await until(async () => (await tokens(weth, first)) === 100n, { timeoutMs: 60_000, what: 'the lane to have tokens' })
    expect(await lane('sweep', first, '--token', weth, '--reason', 'a test')).toMatchObject({
      code: 0,
      status: { state: 'done', nonce: before + 2 },
    })
    expect([await tokens(weth, first), await tokens(weth, treasury)]).toEqual([0n, 100n])

    const keep = 5n * ether
    expect(await lane('sweep', first, '--keep', String(keep), '--reason', 'a test')).toMatchObject({
      code: 0,
      status: { state: 'done', nonce: before + 3 },
    })
    expect(await balance(first)).toBeGreaterThanOrEqual(keep)
    expect(await balance(first)).toBeLessThan(keep + ether)
    expect(await balance(treasury)).toBeGreaterThan(ether)
    expect(await count(first)).toBe(before + 4)
  })

  test('payments over HTTP are made once for each idempotency key, and deliveries are audited over HTTP', async () => {
    const [first, second] = lanes as [string, string]
    const post = async (path: string, body: object, key?: string) => {
      const headers = { ...portage.admin, 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) }
      const response = await fetch(`${portage.apiUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: response.status, ...((await response.json()) as { id: string }) }
    }
    const asked = await post('/v1/audits', { chain: 'bsc', hours: 1 })
    expect(asked).toMatchObject({ status: 202, audits: [{ chain: 'bsc' }] })
    const [before, had, paid] = [await count(first), await balance(second), await balance(treasury)]
    const id = (address: string) => laneId('evm', stage.devnet.chains.bsc.anvil.chainId, address)
    // An idempotency key is valid for one route. Two routes therefore make two payments, and repeated requests make
    // none.
    const sweep = () => post(`/v1/lanes/${id(first)}/sweep`, { keep: String(ether), reason: 'a test' }, 'one-key')
    const topUp = () => post(`/v1/lanes/${id(second)}/top-up`, { from: id(first), amount: '9', reason: 'a test' }, 'one-key')
    const answers = [await topUp(), await sweep(), await topUp(), await sweep()]
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    expect([answers[2]!.id, answers[3]!.id]).toEqual([answers[0]!.id, answers[1]!.id])
    expect(answers[0]!.id).not.toBe(answers[1]!.id)
    const ended = await Promise.all(answers.slice(0, 2).map((one) => operatorTransactionResult(stage.client, one.id)))
    expect(ended).toMatchObject([
      { state: 'done', by: expect.any(String) },
      { state: 'done', reason: 'a test' },
    ])
    expect([await count(first), await balance(second)]).toEqual([before + 2, had + 9n])
    expect(await balance(treasury)).toBeGreaterThan(paid + ether)

    const reports = async () => {
      const response = await fetch(`${portage.apiUrl}/v1/audits?chain=bsc&limit=20`, { headers: portage.admin })
      const { audits } = (await response.json()) as { audits: { workflowId: string; report?: object }[] }
      return audits.find(({ workflowId, report }) => workflowId === 'audit:bsc-by-hand' && report)
    }
    expect(await until(reports, { timeoutMs: 60_000, what: 'the audit to end' })).toMatchObject({ report: { hours: 1, undoneCount: 0 } })
  })

  test('operator transactions are listed while they wait and after their end, and end when cancelled', async () => {
    const [first] = lanes as [string]
    const setting = { env: { ...process.env, ...stage.devnet.env } }
    const cli = (...args: string[]) => runCli(['lane', ...args, '--config', portage.configPath], setting)
    const transactions = async (...args: string[]) => {
      const { out } = await cli('transactions', first, '--chain', 'bsc', ...args, '--json')
      return (JSON.parse(out) as { transactions: { id: string; execution: string; status?: Record<string, unknown> }[] }).transactions
    }
    const before = await count(first)
    // A forbidden lane takes no work, so the operator transaction waits without a nonce.
    expect(await cli('forbid', first, '--chain', 'bsc', '--reason', 'a test')).toMatchObject({ code: 0 })
    const sent = await cli('send', first, '--chain', 'bsc', '--to', treasury, '--value', '5', '--reason', 'a mistake', '--json')
    const { id } = JSON.parse(sent.out) as { id: string }
    const listed = async () => {
      const rows = await transactions()
      return rows.length === 1 && rows[0]?.id === id && rows[0].status?.['state'] === 'waiting' && rows
    }
    expect(
      await until(listed, { timeoutMs: 60_000, what: 'the operator transaction, and none of those that have ended, to be listed' }),
    ).toEqual([
      expect.objectContaining({
        id,
        execution: 'RUNNING',
        status: expect.objectContaining({ reason: 'a mistake', intent: expect.anything() }),
      }),
    ])
    const people = await cli('transactions', first, '--chain', 'bsc', '--wide')
    expect([people.code, people.out]).toEqual([
      0,
      expect.stringMatching(/^operator-transaction:\S+ +\S+ +waiting +- +0x[0-9a-f]{40} +5 wei +\S+ +a mistake /m),
    ])

    const cancelled = await cli('cancel-transaction', id, '--reason', 'wrong amount', '--wait', '--json')
    expect([cancelled.code, JSON.parse(cancelled.out)]).toEqual([0, expect.objectContaining({ id, state: 'cancelled' })])
    await until(async () => (await transactions()).length === 0, {
      timeoutMs: 60_000,
      what: 'the operator transaction to have left the list',
    })
    await until(async () => (await transactions('--closed', '1'))[0]?.id === id, {
      timeoutMs: 60_000,
      what: 'it to be among the closed',
    })
    expect((await transactions('--closed', '1'))[0]?.status).toMatchObject({
      state: 'cancelled',
      detail: expect.stringContaining('cancelled by night-shift: wrong amount'),
    })
    expect(await count(first)).toBe(before)

    for (const [named, why] of [
      [id, 'closed already'],
      ['operator-transaction:nothing', 'no such operator transaction'],
      ['settings', 'begins with operator-transaction:'],
    ] as const) {
      const { code, err } = await cli('cancel-transaction', named, '--reason', 'a test')
      expect([code, err]).toEqual([1, expect.stringMatching(new RegExp(`^INPUT_INVALID: .*${why}`))])
    }
    expect(await cli('activate', first, '--chain', 'bsc', '--reason', 'a test')).toMatchObject({ code: 0 })
  })

  test('operator transactions that the signing policy forbids are refused with a reason', async () => {
    const [first] = lanes as [string]
    const before = await count(first)
    const stranger = freshAddress()
    const coins = await lane('send', first, '--to', stranger, '--value', '1', '--reason', 'a test')
    expect(coins).toMatchObject({ code: 1, status: { state: 'refused', detail: expect.stringContaining('treasury') } })
    expect(await balance(stranger)).toBe(0n)
    expect(await lane('send', first, '--to', treasury, '--value', '1', '--reason', 'a test')).toMatchObject({
      code: 0,
      status: { state: 'done', nonce: before },
    })
    await stage.outcomes(await stage.send('ethereum', [coin, coin, coin]))
    await expectDelivered(stage)
  })

  test('by default neither the command nor the key sends coins from lane to lane', async () => {
    const { anvil } = stage.devnet.chains.ethereum
    const [first, second] = stage.devnet.lanes.filter(({ chain }) => chain === 'ethereum').map(({ address }) => address) as [string, string]
    const had = await anvil.rpc<string>('eth_getBalance', [second, 'latest'])
    expect(await laneOn('ethereum', 'top-up', second, '--from', first, '--amount', '1', '--reason', 'a test')).toMatchObject({
      code: 1,
      status: { error: { message: expect.stringContaining('chains.ethereum.signing.topUps is false') } },
    })
    expect(await laneOn('ethereum', 'send', first, '--to', second, '--value', '1', '--reason', 'a test')).toMatchObject({
      code: 1,
      status: { state: 'refused', detail: expect.stringContaining('chains.ethereum.signing.topUps decides') },
    })
    expect(await anvil.rpc<string>('eth_getBalance', [second, 'latest'])).toBe(had)
  })

  test('operator transactions are archived once before Temporal forgets them, with who ordered them', async () => {
    const dir = join(stage.devnet.dir, 'archive')
    const store = createArchiveStore({ kind: 'directory', path: dir })
    const hour = 3_600_000
    /**
     * Archives as if it were half an hour later: by then, Temporal's list is complete, and the transfers are old
     * enough.
     */
    const pass = async () => {
      const now = Date.now() + hour / 2
      const done = await archiveTransfers(stage.client, store, { oldest: Date.now() - hour, ordersThrough: 0, now })
      return {
        done,
        orders: await exportOrders(store, [...(await readKeptOrders(stage.client, { lanes: [], receivers: [] }, 0)), ...done.orders], now),
      }
    }
    const linesIn = async (folder: string) => {
      const files = (await readdir(join(dir, folder), { recursive: true })).filter((name) => name.endsWith('.jsonl')).toSorted()
      const texts = await Promise.all(files.map((name) => readFile(join(dir, folder, name), 'utf8')))
      return { texts, lines: texts.flatMap((one) => one.trim().split('\n')).map((line) => JSON.parse(line) as Record<string, unknown>) }
    }
    const archived = async () => {
      await pass()
      return (await linesIn('transfers')).lines.length === stage.sent.length
    }
    await until(archived, { timeoutMs: 60_000, everyMs: 250, what: 'all transfers to be listed as closed' })
    const { lines, texts } = await linesIn('transfers')
    expect(new Set(lines.map(({ id }) => id))).toEqual(new Set(stage.sent.map(({ id }) => id)))
    const [record] = lines as [TransferRecord, ...object[]]
    const sent = stage.sent.find(({ id }) => id === record.id)!
    expect(record).toMatchObject({
      ...{ version: 1, execution: 'COMPLETED', outcome: 'delivered', rounds: 1 },
      transfer: { sequence: String(sent.sequence), message: Buffer.from(await stage.vaa(sent)).toString('base64') },
      delivery: { ours: true, gasPaidWei: expect.stringMatching(/^[1-9]\d+$/) as string },
    })
    const { attempts = [], delivery } = record
    expect(attempts.find(({ fate }) => fate === 'mined')?.hash).toBe(delivery?.txHash)
    const { lane, nonce, transactions = [] } = record
    const mined = transactions.filter(({ fate }) => fate === 'mined')
    expect(mined).toMatchObject([{ lane, nonce, round: 1, kind: 'call', hash: delivery?.txHash, gasPaidWei: delivery?.gasPaidWei }])
    expect(attempts[0]).toMatchObject({ maxFeePerGasWei: expect.stringMatching(/^\d+$/) as string, kind: 'call' })

    const { lines: orders } = await linesIn('orders')
    expect(orders).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ subject: 'operator transaction', kind: 'send', by: 'night-shift', reason: 'a mistake' }),
        expect.objectContaining({ subject: 'operator transaction', kind: 'cancel', by: 'night-shift', reason: 'wrong amount' }),
        expect.objectContaining({ subject: 'lane', kind: 'forbid', by: 'night-shift', reason: 'a test' }),
      ]),
    )
    const again = await pass()
    expect([again.done.added, again.orders.added, (await linesIn('transfers')).texts]).toEqual([0, 0, texts])

    // The command ignores the last two minutes, so it finds nothing to archive.
    const cli = async (...args: string[]) => {
      const config = join(stage.devnet.dir, 'archive.yaml')
      await writeFile(config, stringify({ ...stage.devnet.relayerConfig(), archive: { kind: 'directory', path: 'by-hand' } }))
      const { code, json } = await runCli([...args, '--json', '--config', config], { env: { ...process.env, ...stage.devnet.env } })
      return [code, json()]
    }
    expect(await cli('archive', 'show')).toMatchObject([1, { state: 'losing' }])
    expect(await cli('archive', 'run')).toMatchObject([
      0,
      { transfers: { through: expect.any(String) as string }, orders: { maybeIncomplete: [] } },
    ])
    expect(await cli('archive', 'show')).toMatchObject([0, { state: 'fresh' }])
    const goesOn = async (...args: string[]) => {
      const stop: (() => void)[] = []
      const said: string[][] = [[], []]
      const sayOn = (stream: number) => ({
        write(line: string) {
          said[stream]!.push(line)
          for (const one of stop) one()
        },
      })
      const ended = await main(['archive', 'run', '--every', '60', '--config', join(stage.devnet.dir, 'archive.yaml'), ...args], {
        ...{ env: { ...process.env, ...stage.devnet.env }, stdin: Readable.from([]), cwd: () => stage.devnet.dir },
        ...{ stdout: sayOn(0), stderr: sayOn(1), on: (_, listener) => stop.push(listener), off: () => {} },
      })
      return [ended, ...said]
    }
    expect(await goesOn()).toEqual([0, ['ended\n'], [expect.stringMatching(/^archived +20/)]])
    expect(await goesOn('--json')).toEqual([0, [expect.stringMatching(/^\{"transfers":\{.*\}\n$/)], []])
    const day = new Date().toISOString().slice(0, 10)
    expect(await cli('archive', 'verify', day)).toMatchObject([0, { day, orders: expect.any(Number) as number }])
  })
})
