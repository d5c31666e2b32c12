import { id as keccakText } from 'ethers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createConfirmEnd } from '../../activities/transfer/confirm-end.ts'
import type { BatchAnswer } from '../../activities/batch/build-batch.ts'
import { chainTime } from '../../chains/heads.ts'
import { idOf, type NativeTransfer, readMessage, toTransfer } from '../../bridges/native-bridge/message.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Signer } from '../../chains/signing-port.ts'
import { until } from '../../lab/devnet/until.ts'
import { listBatches } from '../../temporal/client/transfers/batches.ts'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Batch } from '../../lanes/batch/batch-tracker.ts'
import { createKeylessRequests, type Withdraw } from '../../lanes/ledger/keyless-requests.ts'
import { laneCall } from '../../lanes/deps.ts'
import { createLaneStatusCache } from '../../lanes/ledger/open-lanes.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { BatchStatus } from '../../temporal/contracts/batch.ts'
import { rolledBackSignal } from '../../temporal/contracts/transfer.ts'
import { pooled } from '../helpers/e2e-chain.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { type BatchSetting, type LaneProcess, candidateOf, startBatchSetting } from './batch-setting.ts'

const waitLimit = { timeoutMs: 60_000, everyMs: 20 }
const bridge = 'native-bridge'

describe('Batches of a lane', () => {
  let setting: BatchSetting
  let requests: ReturnType<typeof createKeylessRequests>
  let withdraw: Withdraw
  let settings: Settings
  let one: LaneProcess
  let outsider: Signer

  beforeAll(async () => {
    ;[setting, outsider] = await Promise.all([startBatchSetting(), devnetSigner(30)])
    const { config, ledgers, network } = setting
    await network.target.admin('grantRole', [keccakText('RELAYER_ROLE'), outsider.address])
    requests = createKeylessRequests(ledgers.temporal.client, new Map([[config.lane, config]]), true)
    withdraw = requests.withdraw
  })
  beforeEach(async () => {
    settings = noSettings
    one = await setting.process(() => settings)
  })
  afterEach(() => one.agent.stop())
  afterAll(() => setting?.stop())

  /** Confirms the end as a later run of the transfer does, which has not broadcast the call itself. */
  function confirmEnd(transfer: Transfer) {
    const { config, ledgers, network } = setting
    const { client } = ledgers.temporal
    const { chain } = network.target
    const steps = createConfirmEnd({
      bridges: new Map([[bridge, one.bridge]]),
      chains: new Map([['target', chain]]),
      lanes: new Map([['target', createLaneStatusCache(client, [config.lane])]]),
      settings: () => settings,
      fees: () => ({}),
      abandonAfterMs: 0,
      ...requests,
    })
    return steps({ transfer, intentId: candidateOf(transfer).intentId, nonces: [] })
  }
  const amounts = (count: number) => Array.from({ length: count }, (_, index) => BigInt(index + 1))
  const batchesOf = (answers: readonly BatchAnswer[]): Batch[] => answers.flatMap((each) => (each.kind === 'member' ? [each.batch] : []))
  const status = (id: string) => setting.ledgers.temporal.client.workflow.getHandle(id).result() as Promise<BatchStatus>
  const inPool = () => pooled(setting.network.target.anvil, setting.network.relayer.address)
  const delivered = (transfers: readonly Transfer[]) => Promise.all(transfers.map((each) => one.endpoint.delivered(each, 'latest')))
  async function ends(batch: Batch): Promise<BatchStatus> {
    await setting.network.target.finalise()
    return status(batch.id)
  }
  async function nextDay(): Promise<void> {
    const tomorrow = (Math.floor(chainTime(setting.network.target.chain) / 86_400) + 1) * 86_400
    await setting.network.target.anvil.rpc('evm_setNextBlockTimestamp', [tomorrow])
    await setting.network.target.mine()
  }

  test('a batch delivers a group of transfers in one transaction, and knows its end', async () => {
    const transfers = await setting.network.transfers(...amounts(20))
    const answers = batchesOf(await one.enqueueAll(transfers))
    expect([answers.length, new Set(answers.map(({ id }) => id)).size]).toEqual([20, 1])
    const batch = answers[0]!
    expect(await inPool()).toHaveLength(1)
    const end = await ends(batch)
    expect(end).toMatchObject({ state: 'done', nonce: batch.pending.nonce, members: transfers.map((each) => candidateOf(each).intentId) })
    expect(new Set(await delivered(transfers))).toEqual(new Set([true]))
    expect(one.batches.driven(candidateOf(transfers[0]!).intentId)).toBeUndefined()
    expect(one.agent.batchCounts).toMatchObject({ signed: 1, members: 20, split: 0, ended: new Map([['done', 1]]) })
  })

  test('a transfer that no call delivers is isolated, and the rest of its batch is delivered', async () => {
    const transfers = await setting.network.transfers(...amounts(20))
    // The source's contract does not check the recipient, but the token pays nothing to the zero address.
    const cursed: NativeTransfer = { ...readMessage(Buffer.from(transfers[7]!.message, 'base64')), recipient: `0x${'0'.repeat(64)}` }
    const bad = toTransfer(setting.network.route, { ...cursed, id: idOf(cursed) })
    const answers = await one.enqueueAll([...transfers.slice(0, 7), bad, ...transfers.slice(8)])
    expect(answers[7]).toMatchObject({ kind: 'no-slot', code: 'DELIVERY_IMPOSSIBLE', reason: expect.stringContaining('recipient') })
    const batches = new Set(batchesOf(answers))
    expect(batches.size).toBeLessThanOrEqual(4)
    expect(one.agent.batchCounts).toMatchObject({ signed: batches.size, members: batchesOf(answers).length })
    expect(one.agent.batchCounts.split).toBeGreaterThanOrEqual(4)
    await Promise.all([...batches].map(ends))
    const rest = transfers.filter((_, index) => index !== 7 && answers[index]?.kind === 'member')
    expect(rest.length + answers.filter(({ kind }) => kind === 'alone').length).toBe(19)
    expect(new Set(await delivered(rest))).toEqual(new Set([true]))
  })

  test('a batch leaves out withdrawn transfers, and those that another relayer delivered', async () => {
    const transfers = await setting.network.transfers(...amounts(5))
    await setting.network.deliver(await one.endpoint.delivery(transfers[0]!).call(), undefined, outsider)
    expect(await withdraw({ lane: setting.config.lane, intentId: candidateOf(transfers[1]!).intentId, how: 'cancel' })).toEqual({
      kind: 'free',
    })
    const nonce = one.agent.view?.next
    const [seen, withdrawn, ...others] = await one.enqueueAll(transfers)
    expect([seen, withdrawn]).toMatchObject([{ kind: 'seen' }, { kind: 'refused', why: 'withdrawn' }])
    const [batch] = batchesOf(others)
    // The call of the withdrawn transfer was given up, and the next call got its nonce.
    expect([batchesOf(others).length, batch!.members.length, batch!.pending.nonce]).toEqual([3, 3, nonce])
    await ends(batch!)
    expect(await delivered(transfers)).toEqual([true, false, true, true, true])
  })

  test('a batch signs nothing during a halt', async () => {
    const transfers = await setting.network.transfers(...amounts(5))
    const answering = one.enqueueAll(transfers)
    settings = { ...noSettings, halts: [{ scope: { bridge }, by: 'an operator', reason: 'a test', at: 0 }] }
    expect((await answering).map((each) => each.kind === 'no-slot' && each.code)).toEqual(transfers.map(() => 'HALTED'))
    expect(await inPool()).toEqual([])
  })

  test("a batch takes only transfers that fit the day's budget", async () => {
    await nextDay()
    const cap = 10n ** 17n / 4n
    const transfers = await setting.network.transfers(cap / 2n, cap / 4n, cap / 2n, cap / 8n)
    const answers = await one.enqueueAll(transfers)
    expect(answers.map(({ kind }) => kind)).toEqual(['member', 'member', 'no-slot', 'member'])
    expect(answers[2]).toMatchObject({ code: 'BRIDGE_BUDGET' })
    expect(await ends(batchesOf(answers)[0]!)).toMatchObject({ state: 'done' })
    await nextDay()
  })

  test('transfers of a sent batch are held after a cancel or a leave, until the batch is final', async () => {
    const transfers = await setting.network.transfers(...amounts(4))
    const [batch] = batchesOf(await one.enqueueAll(transfers))
    const { client } = setting.ledgers.temporal
    const members = transfers.map((each) => candidateOf(each).intentId)
    const row = { batch: batch!.id, members: 4, transfers: members, nonce: batch!.pending.nonce }
    const listed = async () => (await listBatches(client, setting.config.lane, 0)).find((each) => each.batch === batch!.id)
    expect(await until(listed, { ...waitLimit, what: 'the batch to be listed' })).toMatchObject({ ...row, state: 'underway' })
    const held = { kind: 'held', nonce: batch!.pending.nonce }
    const ask = (index: number, how: 'cancel' | 'leave') =>
      withdraw({ lane: setting.config.lane, intentId: candidateOf(transfers[index]!).intentId, how })
    expect(await Promise.all([ask(0, 'cancel'), ask(1, 'leave')])).toEqual([held, held])
    await ends(batch!)
    // The process reports the nonce at one block and reads the account at the next.
    const freed = async () => (await ask(0, 'cancel')).kind === 'free' || setting.network.target.mine().then(() => false)
    await until(freed, { ...waitLimit, everyMs: 200, what: 'the cancelled one to be free' })
    const ended = async () =>
      (await listBatches(client, setting.config.lane, 1)).find((each) => each.batch === batch!.id && each.state !== 'underway')
    expect(await until(ended, { ...waitLimit, what: 'the end to be listed' })).toMatchObject({
      ...row,
      state: 'done',
      txHash: expect.any(String),
    })
    expect(new Set(await delivered(transfers))).toEqual(new Set([true]))
  })

  test('a batch holds its transfers, also in later runs, until most nodes show its nonce as final', async () => {
    const transfers = await setting.network.transfers(...amounts(3))
    const [batch] = batchesOf(await one.enqueueAll(transfers))
    const held = { kind: 'held', nonces: [{ lane: setting.config.lane, nonce: batch!.pending.nonce }] }
    expect(await confirmEnd(transfers[0]!)).toEqual(held)
    // Once the process with the nonce has stopped, the ledger learns nothing more about the nonce.
    one.agent.stop()
    await setting.network.target.mine()
    expect(await confirmEnd(transfers[0]!)).toEqual(held)
    await setting.network.target.finalise()
    const over = async () => {
      const { kind } = await confirmEnd(transfers[0]!)
      if (kind === 'free') throw new Error('a transfer that was delivered may end as cancelled')
      return kind === 'delivered'
    }
    await until(over, { ...waitLimit, everyMs: 200, what: 'the transfer to be delivered' })
  })

  test('a nonce of any round holds its transfer and is filled; a transfer that was never sent may end', async () => {
    const [transfer, other] = (await setting.network.transfers(1n, 2n)) as [Transfer, Transfer]
    expect(await confirmEnd(other)).toEqual({ kind: 'free' })
    const round = `${transferId(transfer)}/3`
    const request = { ...laneCall(round, await one.endpoint.delivery(transfer).call()), priority: 3, source: 'source' }
    const first = { kind: 'call', gasLimit: '300000', maxFee: '5000000000', tip: '1000000000' } as const
    const acquired = await one.agent.acquire({ ...request, first }, waitLimit)
    if (acquired.kind !== 'acquired') throw new Error(acquired.detail)
    const { pending } = acquired
    await pending.signAndSend()
    expect(await confirmEnd(transfer)).toEqual({ kind: 'held', nonces: [{ lane: setting.config.lane, nonce: pending.nonce }] })
    const { entries } = await setting.ledgers.state(setting.config.lane)
    expect(entries[pending.nonce]).toMatchObject({ fill: 'cancelled', owner: { intentId: round } })
    const ended = async () => {
      const { kind } = await confirmEnd(transfer)
      return kind === 'free' || kind === 'delivered' ? kind : setting.network.target.mine().then(() => undefined)
    }
    const end = await until(ended, { ...waitLimit, everyMs: 200, what: 'its nonce to be final' })
    expect(end).toBe((await delivered([transfer]))[0] ? 'delivered' : 'free')
  })

  test('another process finds a batch and sends the same bytes', async () => {
    const transfers = await setting.network.transfers(...amounts(6))
    const [batch] = batchesOf(await one.enqueueAll(transfers))
    const [before] = await inPool()
    one.agent.stop()
    one = await setting.process()
    const found = await Promise.all(transfers.map((each) => one.routing.find(one.endpoint, each, candidateOf(each).intentId)))
    expect(new Set(found.map((each) => each?.id))).toEqual(new Set([batch!.id]))
    expect(new Set(found.map((each) => each?.pending))).toEqual(new Set([found[0]!.pending]))
    expect(found[0]!.pending.tried.map(({ hash }) => hash)).toEqual([before!.hash])
    const [stranger] = await setting.network.transfers(5n)
    expect(await one.routing.find(one.endpoint, stranger!, candidateOf(stranger!).intentId)).toBeUndefined()
    expect(await ends(batch!)).toMatchObject({ state: 'done', txHash: before!.hash })
    expect(new Set(await delivered(transfers))).toEqual(new Set([true]))
  })

  test('a signed batch stays in the pool for another process, even if a member was cancelled', async () => {
    const transfers = await setting.network.transfers(...amounts(4))
    const [batch] = batchesOf(await one.enqueueAll(transfers))
    const [before] = await inPool()
    one.agent.stop()
    const cancelled = candidateOf(transfers[0]!).intentId
    expect(await withdraw({ lane: setting.config.lane, intentId: cancelled, how: 'cancel' })).toEqual({
      kind: 'held',
      nonce: batch!.pending.nonce,
    })
    one = await setting.process()
    const found = await Promise.all(transfers.slice(1).map((each) => one.routing.find(one.endpoint, each, candidateOf(each).intentId)))
    expect(found.map((each) => each?.id)).toEqual(found.map(() => batch!.id))
    expect((await inPool()).map(({ hash }) => hash)).toEqual([before!.hash])
    expect(await ends(batch!)).toMatchObject({ state: 'done', txHash: before!.hash })
    expect(await delivered(transfers)).toEqual([true, true, true, true])
  })

  test('a signed batch stays in the pool for a process whose key refuses a member that was denied since', async () => {
    const transfers = await setting.network.transfers(...amounts(4))
    const [batch] = batchesOf(await one.enqueueAll(transfers))
    const [before] = await inPool()
    one.agent.stop()
    const { address } = setting.network.relayer
    one = await setting.process(undefined, { address, sign: () => Promise.reject(new RelayerError('RECIPIENT_DENIED')) })
    const found = await Promise.all(transfers.map((each) => one.routing.find(one.endpoint, each, candidateOf(each).intentId)))
    expect(found.map((each) => each?.id)).toEqual(found.map(() => batch!.id))
    expect((await inPool()).map(({ hash }) => hash)).toEqual([before!.hash])
    const ended = ends(batch!)
    let isEnded = false
    void ended.then(() => (isEnded = true))
    // A process that signs nothing reads the account only every few blocks, so mine more blocks.
    const mined = async () => isEnded || (await setting.network.target.mine(), false)
    await until(mined, { ...waitLimit, what: 'the batch to end' })
    expect(await ended).toMatchObject({ state: 'done', txHash: before!.hash })
    expect(await delivered(transfers)).toEqual([true, true, true, true])
  })

  test('a batch is driven by its workflow if no process holds its members', async () => {
    const transfers = await setting.network.transfers(...amounts(4))
    const [batch] = batchesOf(await one.enqueueAll(transfers))
    const [before] = await inPool()
    one.agent.stop()
    await setting.network.target.anvil.rpc('anvil_dropTransaction', [before!.hash])
    one = await setting.process()
    const end = await one.serve()
    try {
      // Send the signal that the ledger sends for a removed block. Without it, the workflow would check only after a
      // minute.
      const rolledBack = { intentId: '', nonce: batch!.pending.nonce }
      await setting.ledgers.temporal.client.workflow.getHandle(batch!.id).signal(rolledBackSignal, rolledBack)
      const again = await until(async () => (await inPool())[0], { ...waitLimit, what: 'the batch to be sent again' })
      expect(again.hash).toBe(before!.hash)
      expect(await ends(batch!)).toMatchObject({ state: 'done', txHash: before!.hash })
    } finally {
      await end()
    }
    expect(new Set(await delivered(transfers))).toEqual(new Set([true]))
  })

  test('a batch reverts as a whole if another relayer was quicker, and is not found then', async () => {
    const transfers = await setting.network.transfers(...amounts(4))
    const [batch] = batchesOf(await one.enqueueAll(transfers))
    const [ours] = await inPool()
    await setting.network.target.anvil.rpc('anvil_dropTransaction', [ours!.hash])
    await setting.network.deliver(await one.endpoint.delivery(transfers[2]!).call(), undefined, outsider)
    // The dropped call is stuck and is sent again. It reverts, because an outsider has delivered one of its transfers.
    const included = async () => {
      await setting.network.target.mine()
      return batch!.pending.state.kind === 'included'
    }
    await until(included, { ...waitLimit, everyMs: 200, what: 'the batch to be in a block' })
    expect(await one.routing.find(one.endpoint, transfers[0]!, candidateOf(transfers[0]!).intentId)).toBeUndefined()
    expect(await ends(batch!)).toMatchObject({ state: 'reverted' })
    expect(await delivered(transfers)).toEqual([false, false, true, false])
  })

  test('a batch is recorded before it has a nonce, and ends if the lane gives none', async () => {
    const transfers = await setting.network.transfers(...amounts(3))
    await setting.ledgers.order(setting.config.lane, { kind: 'pause', id: 'pause', pause: { kind: 'operator', reason: 'a test' } })
    const answers = await one.enqueueAll(transfers)
    await setting.ledgers.order(setting.config.lane, { kind: 'resume', id: 'resume' })
    expect(answers.map((each) => each.kind === 'refused' && each.why)).toEqual(['paused', 'paused', 'paused'])
    const { client } = setting.ledgers.temporal
    const members = transfers.map((each) => candidateOf(each).intentId)
    // Temporal's list lags, so its newest batch may be an older batch than this one.
    const recorded = async () =>
      (await listBatches(client, setting.config.lane, 50)).find(({ transfers: carried }) => carried?.some((each) => members.includes(each)))
    const { batch } = await until(recorded, { ...waitLimit, what: 'the batch without a nonce to be listed' })
    expect(await status(batch)).toMatchObject({ state: 'unsent', members, detail: expect.stringContaining('paused') })
  })
})
