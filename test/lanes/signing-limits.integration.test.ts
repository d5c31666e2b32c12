import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import type { Signer, SigningLimits } from '../../chains/signing-port.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import { until } from '../../lab/devnet/until.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { pooled } from '../helpers/e2e-chain.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { testPolicy } from '../helpers/signing-policy.ts'
import { acquired, becomes, laneOf, request, signedAndSent, startLaneSetting, type LaneSetting } from './setting.ts'

const waitLimit = { timeoutMs: 60_000 }
const gwei = 10n ** 9n
/** The first attempt of `request`: 30,000 gas at 5 gwei, with a tip of 1 gwei. */
const first = { maxFee: 5n * gwei, tip: gwei, cost: 150_000n * gwei }

describe('The limits of a key', () => {
  let setting: LaneSetting
  let keys = 45
  let signer: Signer

  beforeAll(async () => {
    setting = await startLaneSetting()
  })
  afterAll(() => setting?.stop())

  /** An agent whose lane may pay all `payees`, so that only the limits can refuse a payment. */
  async function fresh(limits: Partial<SigningLimits>, payees: string[]): Promise<LaneAgent> {
    signer = withPolicy(await devnetSigner(keys++), testPolicy({ limits, payees }))
    return setting.agent(signer, { bumpAfterBlocks: 1, fillAfterBlocks: 1_000 })
  }

  const pool = () => pooled(setting.anvil, signer.address)
  const order = (asked: Parameters<LaneSetting['ledgers']['order']>[1]) => setting.ledgers.order(laneOf(signer), asked)
  const forged = (changes: Partial<Attempt> = {}): Attempt => {
    return { kind: 'call', gasLimit: '30000', maxFee: String(10n ** 14n), tip: String(10n ** 14n), ...changes }
  }
  const within = async (limit: bigint) => {
    for (const { maxFeePerGas } of await pool()) expect(maxFeePerGas).toBeLessThanOrEqual(limit)
  }

  test("a replace order beyond the key's limits is neither signed nor recorded; lower raises go on", async () => {
    const one = request('replaced')
    const agent = await fresh({ maxCostPerTransactionWei: String(first.cost * 2n) }, [one.intent.to])
    const pending = await signedAndSent(agent, one)
    const answer = await order({ kind: 'replace', id: 'r', nonce: 0, maxFee: String(10n ** 18n), tip: String(10n ** 18n) })
    expect(answer).toEqual({ kind: 'done' })
    await setting.passUntil('the refusal to be shown', () => agent.signingRefused === 1)
    await setting.passUntil('a raise', () => pending.tried.length > 1)
    await within(first.maxFee * 2n)
    const { entries } = await setting.ledgers.state(laneOf(signer))
    expect(entries['0']?.attempts.every(({ maxFee }) => BigInt(maxFee) <= first.maxFee * 2n)).toBe(true)
    await setting.mine()
    expect(await becomes(pending, ({ kind }) => kind === 'included')).toMatchObject({ noop: false, receipt: { status: 'success' } })
    expect(agent.signingRefused).toBe(0)
  })

  test('forged attempts in the ledger are neither signed nor outbid; honest raises go on', async () => {
    const [one, other] = [request('forged'), request('behind it')]
    const agent = await fresh({ maxTipPerGasWei: String(first.tip * 4n) }, [one.intent.to, other.intent.to])
    const pending = await signedAndSent(agent, one)
    await order({ kind: 'attempt', id: 'a', nonce: 0, index: 1, attempt: forged() })
    await order({ kind: 'attempt', id: 'b', nonce: 0, index: 2, attempt: forged({ gasLimit: '900000000', maxFee: '7', tip: '7' }) })
    await setting.passUntil('a raise of our own', () => pending.tried.length > 1)
    const dearest = async () => {
      const [sent] = await pool()
      return (sent?.maxFeePerGas ?? 0n) > first.maxFee
    }
    await until(dearest, { ...waitLimit, what: 'the raise in the pool' })
    await within(first.maxFee * 10n)
    const behind = await signedAndSent(agent, other)
    await setting.mine()
    for (const landed of [pending, behind]) expect(await becomes(landed, ({ kind }) => kind === 'included')).toMatchObject({ noop: false })
  })

  test('a no-op beyond the limits is not signed: the nonce shows as stuck until its call is mined', async () => {
    const [one, other] = [request('cancelled'), request('behind the cancelled')]
    const agent = await fresh({ maxTipPerGasWei: String(first.tip) }, [one.intent.to, other.intent.to])
    const pending = await signedAndSent(agent, one)
    expect(await agent.cancel(one.owner.intentId)).toBe('held')
    await setting.passUntil('the refusal to be shown', () => agent.signingRefused === 1)
    expect((await pool()).map(({ to }) => to)).toEqual([one.intent.to])
    const behind = await signedAndSent(agent, other)
    await setting.mine()
    expect(await becomes(pending, ({ kind }) => kind === 'included')).toMatchObject({ noop: false })
    expect(await becomes(behind, ({ kind }) => kind === 'included')).toMatchObject({ noop: false })
    expect(agent.signingRefused).toBe(0)
  })

  test('a grant with an invented fee holds its nonce up for one no-op, and the others go on', async () => {
    const [one, other] = [request('granted by somebody else'), request('honest')]
    const agent = await fresh({}, [one.intent.to, other.intent.to])
    await order({ kind: 'grant', id: 'g', owner: one.owner, attempt: forged() })
    const found = await acquired(agent, one)
    const refusal = await found.signAndSend().catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'SIGNING_REFUSED', facts: { limit: expect.any(String) } })
    expect(await agent.giveUp(found, refusal)).toBe(false)
    const honest = await signedAndSent(agent, other)
    const fills = async () => (await pool()).some(({ to }) => to === signer.address)
    if (honest.nonce > 0) await setting.passUntil('the no-op in the pool', fills)
    await within(first.maxFee * 10n)
    await setting.mine()
    expect(await becomes(honest, ({ kind }) => kind === 'included')).toMatchObject({ noop: false })
  })

  test('a call beyond the hourly spending gets no nonce, and raises stay within it', async () => {
    const [one, other] = [request('within the hour'), request('too much')]
    const agent = await fresh({ maxSpendingPerHourWei: String((first.cost * 3n) / 2n) }, [one.intent.to, other.intent.to])
    const pending = await signedAndSent(agent, one)
    await expect(agent.acquire(other, { timeoutMs: 10_000 })).rejects.toMatchObject({
      code: 'SIGNING_REFUSED',
      facts: { limit: 'maxSpendingPerHourWei' },
    })
    await setting.passUntil('the refusal to be shown', () => agent.signingRefused === 1)
    expect(await setting.ledgers.state(laneOf(signer))).toMatchObject({ next: 1 })
    const [hour] = agent.spending
    expect(hour!.spent).toBeLessThanOrEqual(hour!.limit)
    await setting.mine()
    expect(await becomes(pending, ({ kind }) => kind === 'included')).toMatchObject({ noop: false })
  })
})
