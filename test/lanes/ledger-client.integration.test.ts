import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { until } from '../../lab/devnet/until.ts'
import type { LaneConfig } from '../../domain/lane/lane.ts'
import type { Ask, LaneAnswer, Observation } from '../../domain/lane/messages.ts'
import type { LedgerClient } from '../../lanes/ledger/ledger-client.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { silentLogger } from '../../observability/logger.ts'
import { startTransfer } from '../../temporal/client/transfers/start-transfer.ts'
import { laneWorkflowId, transferId } from '../../temporal/contracts/names.ts'
import { createTransferWorker } from '../../workers/roles/chain.ts'
import { defaultTuning } from '../../workers/process/create-worker.ts'
import { countingClient, laneOf, startLedgers, request, type Ledgers } from './setting.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const funds = String(10n ** 24n)

function observation(changes: Partial<Observation> = {}): Observation {
  return { latest: 0, finalized: 0, height: 10, hash: '0x0a', balance: funds, claims: [], since: 1, pending: 0, ...changes }
}

function grant(name: string): Ask {
  const { owner, first: attempt } = request(name)
  return { kind: 'grant', owner, attempt }
}

function nonceOf(answer: LaneAnswer): number {
  if (answer.kind !== 'granted') throw new Error(`not granted: ${JSON.stringify(answer)}`)
  return answer.entry.nonce
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('The client of a ledger', () => {
  let ledgers: Ledgers
  const dir = temporaryFolder()
  let lanes = 0

  beforeAll(async () => {
    ledgers = await startLedgers({ inMemory: false, dir })
  })

  afterAll(async () => {
    await ledgers?.stop()
  })

  function config(): LaneConfig {
    return { lane: laneOf(devnetAccount(20 + lanes++)), window: 1_000, fillAfterBlocks: 100 }
  }

  async function synced(client: LedgerClient): Promise<LedgerClient> {
    client.observe(observation())
    await until(() => client.view?.synced, { timeoutMs: 60_000, what: 'the ledger to be synced' })
    return client
  }

  test('the ledger client has one update under way; later requests share the next one', async () => {
    const counting = countingClient(ledgers.temporal)
    const client = await synced(ledgers.client(config(), { client: counting.client }))
    const before = counting.sent
    const asks = upTo(300).map((index) => client.ask(grant(`coalesced-${index}`)))
    await until(() => counting.sent > before, { timeoutMs: 60_000, everyMs: 1, what: 'the first update to leave' })
    asks.push(...upTo(100).map((index) => client.ask(grant(`later-${index}`))))
    const nonces = (await Promise.all(asks)).map(nonceOf)
    expect(nonces.toSorted((a, b) => a - b)).toEqual(upTo(400))
    expect(counting.mostAtOnce).toBe(1)
    // An update has 64 asks, so 400 need 7 updates, or 8 if an update was sent half full.
    expect(counting.sent - before).toBeLessThanOrEqual(8)
  })

  test('a request of another client for the same intent gets the nonce that it holds', async () => {
    const one = config()
    const client = await synced(ledgers.client(one))
    const answers = await Promise.all([client.ask(grant('same')), client.ask(grant('other'))])
    const other = ledgers.client(one)
    const ask: Ask = { ...(grant('same') as Extract<Ask, { kind: 'grant' }>) }
    // A payment to another address is another call.
    expect(await other.ask(ask)).toMatchObject({ kind: 'refused', why: 'conflict' })
    const [same] = answers
    if (same.kind !== 'granted' || !same.entry.owner) throw new Error('no nonce')
    const again = await other.ask({ kind: 'find', ...same.entry.owner })
    expect(again).toMatchObject({ kind: 'granted', entry: { nonce: same.entry.nonce, maybeSent: true } })
  })

  test('a newer observation replaces one that the ledger client has not sent', async () => {
    const counting = countingClient(ledgers.temporal)
    const client = await synced(ledgers.client(config(), { client: counting.client }))
    const before = counting.sent
    for (const index of upTo(50)) client.observe(observation({ height: 11 + index, hash: `0x${index}` }))
    await client.ask(grant('after'))
    const state = await ledgers.state(laneOf(devnetAccount(20 + lanes - 1)))
    expect(state.observed).toMatchObject({ height: 60 })
    expect(counting.sent - before).toBeLessThanOrEqual(2)
  })

  test('during continue-as-new every request is answered once, and no nonce is granted twice', async () => {
    const one = config()
    const client = await synced(ledgers.client(one, { updatesPerRun: 2 }))
    const nonces: number[] = []
    const runs = async () => {
      const query = `WorkflowId = '${laneWorkflowId(one.lane)}' AND ExecutionStatus = 'ContinuedAsNew'`
      return (await ledgers.temporal.client.workflow.count(query)).count
    }
    // A run that has reached its limit of updates refuses further updates until the next run takes over. The test asks
    // again immediately after each answer, so that some requests arrive in this moment, and stops at the third run.
    for (let round = 0; round < 300 && (await runs()) < 3; round++) {
      const answers = await Promise.all(upTo(3).map((index) => client.ask(grant(`${round}-${index}`))))
      nonces.push(...answers.map(nonceOf))
    }
    await until(async () => (await runs()) >= 3, { timeoutMs: 60_000, what: 'three runs to be listed' })
    expect(nonces.toSorted((a, b) => a - b)).toEqual(upTo(nonces.length))
    expect(await ledgers.state(one.lane)).toMatchObject({ next: nonces.length, counts: { granted: nonces.length } })
  })

  test('a ledger answers while admissions hold every slot of the transfers', async () => {
    const { temporal } = ledgers
    const chain = 'crowded'
    const begun = new Set<string>()
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const hold = async ({ transfer }: { readonly transfer: Transfer }) => {
      begun.add(transfer.sequence)
      await released
      return { kind: 'rejected', code: 'PAYLOAD_KIND', reason: 'a test' }
    }
    // An admission holds one of the worker's slots for workflow tasks until the test releases it.
    const tuning = { ...defaultTuning, graceMs: 0, workflowTasks: 2, workflowPollers: 2 }
    const hosting = { temporal, logger: silentLogger(), tuning }
    const worker = await createTransferWorker(chain, { ...hosting, activities: { admit: hold, validate: hold }, localSlots: 0 })
    const serving = worker.run()
    try {
      const transfers = upTo(40).map((number): Transfer => ({
        ...{
          bridge: 'native-bridge',
          sourceChain: 'a',
          sourceId: 'a',
          targetChain: chain,
          emitter: '0'.repeat(64),
          sequence: String(number),
        },
        ...{ digest: `0x${String(number).padStart(64, '0')}`, message: '' },
      }))
      await Promise.all(transfers.map((transfer) => startTransfer(temporal.client, transferId(transfer), { transfer })))
      await until(() => begun.size >= tuning.workflowTasks, { timeoutMs: 60_000, everyMs: 10, what: 'all slots to be held' })
      const [one, other] = await Promise.all([synced(ledgers.client(config())), synced(ledgers.client(config()))])
      const nonces: number[] = []
      for (const index of upTo(3)) nonces.push(nonceOf(await one.ask(grant(`beside-${index}`))))
      expect([nonces, nonceOf(await other.ask(grant('beside')))]).toEqual([[0, 1, 2], 0])
      expect(begun.size).toBeLessThan(transfers.length)
    } finally {
      release()
      worker.shutdown()
      await serving
    }
  })

  test('during a restart of Temporal every request is answered, and no nonce is granted twice', async () => {
    const one = config()
    const client = await synced(ledgers.client(one))
    const asks = [...upTo(20).map((index) => client.ask(grant(`before-${index}`)))]
    const restarting = ledgers.server.restart()
    asks.push(...upTo(20).map((index) => client.ask(grant(`during-${index}`))))
    await restarting
    asks.push(...upTo(20).map((index) => client.ask(grant(`after-${index}`))))
    const nonces = (await Promise.all(asks)).map(nonceOf)
    expect(nonces.toSorted((a, b) => a - b)).toEqual(upTo(60))
    expect(await ledgers.state(one.lane)).toMatchObject({ next: 60, counts: { granted: 60 } })
  })

  test('a terminated ledger starts again and grants nothing before it has an observation', async () => {
    const one = config()
    const client = await synced(ledgers.client(one))
    expect(nonceOf(await client.ask(grant('first')))).toBe(0)
    await ledgers.temporal.client.workflow.getHandle(laneWorkflowId(one.lane)).terminate('a test')
    expect(await client.ask(grant('second'))).toMatchObject({ kind: 'refused', why: 'unsynced' })
    client.observe(observation({ height: 11, pending: 1 }))
    expect(await client.ask(grant('second'))).toMatchObject({ kind: 'refused', why: 'unsynced' })
    client.observe(observation({ height: 12, latest: 1 }))
    expect(nonceOf(await client.ask(grant('second')))).toBe(1)
  })

  test('a closed ledger client fails requests that it has not sent, and all later ones', async () => {
    const client = await synced(ledgers.client(config()))
    const asked = client.ask(grant('never sent'))
    client.close()
    await expect(asked).rejects.toMatchObject({ code: 'LANE_UNREACHABLE' })
    await expect(client.ask(grant('too late'))).rejects.toMatchObject({ code: 'LANE_UNREACHABLE' })
  })
})
