import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { retrySignal, type TransferStatus } from '../../temporal/contracts/transfer.ts'
import { runCli } from '../cli/run-cli.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { inPool, mine, nonceOf, pooled, redeemSoon, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 17n } as const
/**
 * Seconds per block after a reorg. Blocks are slow, because the lane waits for removed transactions for only a few
 * blocks.
 */
const slowly = 1

interface ShadowReport {
  readonly chains: readonly object[]
  readonly transfers: readonly { readonly gasLimit: string; readonly cost: string }[]
}

describe('Someone else delivers, and blocks that go away', { timeout: 300_000 }, () => {
  let stage: Stage
  let outsider: string
  let lane: string
  let portage: PortageProcess | undefined
  const target = () => stage.devnet.chains.bsc
  const redeem = async (sent: Sent, tipWei?: bigint) =>
    redeemSoon(target(), stage.devnet.outsiders.bsc, await stage.vaa(sent), tipWei ? { tipWei } : {})
  const mined = (hash: string) =>
    until(async () => (await target().anvil.rpc('eth_getTransactionReceipt', [hash])) !== null, {
      timeoutMs: 60_000,
      what: `${hash} to be mined`,
    })
  const notes = ({ timeline }: TransferStatus) => timeline.map(({ note }) => note)
  const byOutsider = (txHash: string) => ({ state: 'delivered', delivery: { by: outsider, ours: false, txHash } })

  beforeAll(async () => {
    // An audit would find unsent messages before the outsider delivers them.
    stage = await startStage({ consistencyLevel: 200, slotsInAnEpoch: 8, auditMinutes: 60 })
    outsider = stage.devnet.outsiders.bsc.address
    lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address
    await Promise.all(Object.values(stage.devnet.chains).map(({ anvil }) => mine(anvil, 20)))
  })

  afterAll(() => stage?.close())

  test('in shadow mode the call is priced, no key is read, nothing is sent, and others deliver it', async () => {
    const signer = { kind: 'environment', variable: 'PORTAGE_NO_SUCH_KEY' } as const
    const shadow = await stage.portage({
      configure: ({ chains, ...config }) => {
        const bsc = { ...chains['bsc']!, shadow: true, lanes: [{ address: lane, signer }] }
        return { ...config, chains: { ...chains, bsc } }
      },
    })
    cleanUp(() => stage.end(shadow))
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const waiting = await stage.reaches(sent.id, 'waiting')
    expect(waiting).toMatchObject({
      code: 'SHADOW_MODE',
      reason: expect.stringMatching(/would call 0x[0-9a-f]{8} of 0x[0-9a-f]{40} with \d+ gas at up to .*; it costs .* now$/),
    })
    const doctor = JSON.parse((await runCli(['doctor', '--json', '--config', shadow.configPath])).out) as { checks: { detail: string }[] }
    expect(doctor.checks).toContainEqual(expect.objectContaining({ status: 'warn', detail: 'shadow mode: nothing is sent' }))
    expect(JSON.stringify(doctor)).not.toContain(signer.variable)
    const report = JSON.parse((await runCli(['shadow', '--json', '--config', shadow.configPath])).out) as ShadowReport
    expect(report.transfers).toMatchObject([{ id: sent.id, chain: 'bsc', selector: expect.stringMatching(/^0x[0-9a-f]{8}$/) }])
    const [{ gasLimit, cost }] = report.transfers as [ShadowReport['transfers'][number]]
    expect(report.chains).toMatchObject([{ chain: 'bsc', transfers: 1, priced: 1, gas: gasLimit, cost }])
    expect(BigInt(cost)).toBeGreaterThan(0n)
    const stuck = JSON.parse((await runCli(['stuck', '--json', '--config', shadow.configPath])).out) as { causes: { code: string }[] }
    const codes = stuck.causes.map(({ code }) => code)
    expect([codes.includes('SHADOW_MODE'), codes.includes('TRANSFERS_WAIT')]).toEqual([true, false])
    const hash = await redeem(sent)
    await mined(hash)
    await mine(target().anvil, 20)
    await stage.client.workflow.getHandle(sent.id).signal(retrySignal)
    expect(await stage.outcomes([sent])).toMatchObject([byOutsider(hash)])
    const { lanes } = await expectDelivered(stage, [sent])
    expect(lanes.map(({ transactions }) => transactions)).toEqual([0, 0])
    const logged = (await readFile(shadow.logFile, 'utf8')).split('\n').filter((line) => line.includes('would send a delivery'))
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ transfer: sent.id, costWei: expect.stringMatching(/^\d+$/) }])
  })

  test('a transfer that others delivered earlier ends as delivered by them, and nothing is sent', async () => {
    const [old, young] = (await stage.send('ethereum', [coin, coin])) as [Sent, Sent]
    const oldHash = await redeem(old)
    await mined(oldHash)
    await mine(target().anvil, 20)
    await stopMining(target().anvil)
    const youngHash = await redeem(young)
    await mine(target().anvil)
    portage = await stage.portage()
    // The stream counts the source's messages, so Portage may already know these messages.
    for (const one of [old, young]) expect([200, 202]).toContain((await stage.submit(portage, await stage.vaa(one))).status)
    expect(await stage.outcomes([old])).toMatchObject([byOutsider(oldHash)])
    // The outsider's block is not final, so the transfer shows the delivery but does not end.
    const waiting = await stage.reaches(young.id, 'included')
    expect(notes(waiting)).toContain('by someone else; not final yet')
    await startMining(target().anvil)
    await mine(target().anvil, 16)
    expect(await stage.outcomes([young])).toMatchObject([byOutsider(youngHash)])
    const { lanes } = await expectDelivered(stage, [old, young])
    expect(lanes.map(({ transactions }) => transactions)).toEqual([0, 0])
  })

  test('a transfer that others deliver in the block of our attempt ends as delivered by them', async () => {
    await stopMining(target().anvil)
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    const [ours] = await inPool(target().anvil, lane, 1)
    const theirs = await redeem(sent, 50_000_000_000n)
    await mine(target().anvil)
    const receipt = await target().anvil.rpc<{ status: string }>('eth_getTransactionReceipt', [ours!.hash])
    expect(receipt.status).toBe('0x0')
    await startMining(target().anvil)
    await mine(target().anvil, 16)
    expect(await stage.outcomes([sent])).toMatchObject([byOutsider(theirs)])
    expect((await expectDelivered(stage)).revertedTransactions).toBe(1)
  })

  test('a delivery of others that a reorg removed before the submission is repeated by Portage, once', async () => {
    const { anvil } = target()
    await stage.devnet.guardian.spy.stop()
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    await stopMining(anvil)
    const theirs = await redeem(sent)
    await mine(anvil, 2)
    await stage.submit(portage!, await stage.vaa(sent))
    await stage.reaches(sent.id, 'included')
    expect(await pooled(anvil, lane)).toEqual([])
    await anvil.rpc('anvil_reorg', [2, []])
    expect(await anvil.rpc('eth_getTransactionReceipt', [theirs])).toBeNull()
    await startMining(anvil, slowly)
    await until(() => redeemed(sent), { timeoutMs: 90_000, everyMs: 100, what: 'our delivery to be in a block' })
    await mine(anvil, 16)
    const [end] = await stage.outcomes([sent])
    expect(end).toMatchObject({ state: 'delivered', delivery: { by: lane, ours: true } })
    await expectDelivered(stage)
    await stage.devnet.guardian.spy.start()
    await until(() => stage.devnet.guardian.spy.subscribers > 0, { timeoutMs: 60_000, what: 'Portage to listen to the spy again' })
  })

  test('transactions of a removed block are sent again at their nonces and deliver once', async () => {
    const { anvil } = target()
    await stopMining(anvil)
    const sent = (await stage.send('ethereum', [coin, coin])) as [Sent, Sent]
    const ours = await inPool(anvil, lane, 2)
    const theirs = await redeem(sent[0], 50_000_000_000n)
    await mine(anvil, 2)
    const includes = async () => ((await stage.lane('bsc')).observed?.latest ?? 0) > ours[1]!.nonce
    await until(includes, { timeoutMs: 60_000, what: 'the lane to see its transactions in a block' })
    const { blockHash, blockNumber } = await anvil.rpc<{ blockHash: string; blockNumber: string }>('eth_getTransactionReceipt', [theirs])
    for (const { hash } of ours) expect(await anvil.rpc('eth_getTransactionReceipt', [hash])).toMatchObject({ blockHash })
    await anvil.rpc('anvil_reorg', [2, []])
    // `anvil_reorg` restarts interval mining, so a new block may already contain Portage's deliveries. Only the removed
    // block and the other relayer's receipt are checked.
    expect(await anvil.rpc('eth_getBlockByNumber', [blockNumber, false])).not.toMatchObject({ hash: blockHash })
    expect(await anvil.rpc('eth_getTransactionReceipt', [theirs])).toBeNull()
    await startMining(anvil, slowly)
    await until(async () => (await Promise.all(sent.map(redeemed))).every(Boolean), {
      timeoutMs: 90_000,
      everyMs: 100,
      what: 'both deliveries',
    })
    await mine(anvil, 16)
    const ends = await stage.outcomes(sent)
    expect(ends).toMatchObject(sent.map(() => ({ state: 'delivered', delivery: { by: lane, ours: true }, rounds: 1 })))
    expect(ends.map(({ nonce = -1 }) => nonce).toSorted((a, b) => a - b)).toEqual(ours.map(({ nonce }) => nonce))
    await expectDelivered(stage)
  })

  test('after a kill before finality and a reorganisation the same bytes are sent again and deliver', async () => {
    portage ??= await stage.portage()
    const used = await nonceOf(target().anvil, lane)
    await stopMining(target().anvil)
    const sent = (await stage.send('ethereum', [coin, coin])) as [Sent, Sent]
    const ours = await inPool(target().anvil, lane, 2)
    await mine(target().anvil, 2)
    for (const { id } of sent) await stage.reaches(id, 'included')
    await stage.end(portage, 'SIGKILL')
    await target().anvil.rpc('anvil_reorg', [2, []])
    for (const { hash } of ours) expect(await target().anvil.rpc('eth_getTransactionReceipt', [hash])).toBeNull()
    await target().anvil.rpc('anvil_dropAllTransactions', [])
    await startMining(target().anvil, slowly)
    portage = await stage.portage()
    const again = async () => (await stage.devnet.check(sent)).delivered === sent.length
    await until(again, { timeoutMs: 120_000, everyMs: 200, what: 'both deliveries to be in blocks again' })
    await mine(target().anvil, 16)
    const ends = await stage.outcomes(sent)
    expect(ends).toMatchObject(sent.map(() => ({ state: 'delivered', rounds: 1, delivery: { by: lane, ours: true } })))
    expect(new Set(ends.map(({ txHash }) => txHash))).toEqual(new Set(ours.map(({ hash }) => hash)))
    const { lanes } = await expectDelivered(stage)
    expect(lanes.find(({ address }) => address === lane)?.transactions).toBe(used + 2)
  })

  const redeemed = async (one: Sent) => (await stage.devnet.check([one])).delivered === 1
})
