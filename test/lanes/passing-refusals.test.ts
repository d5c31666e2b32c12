import { describe, expect, test } from 'vitest'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import type { Chain } from '../../chains/port.ts'
import type { SignedTransaction, SigningLimits, SigningPolicy, UnsignedTransaction } from '../../chains/signing-port.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import type { Attempt } from '../../domain/lane/lane.ts'
import type { LaneAnswer, LaneRequest } from '../../domain/lane/messages.ts'
import { until } from '../../lab/devnet/until.ts'
import type { LaneDeps } from '../../lanes/deps.ts'
import { PendingTransaction } from '../../lanes/transaction/pending-transaction.ts'
import { silentLogger } from '../../observability/logger.ts'
import { operatorTransactionPrefix } from '../../temporal/contracts/names.ts'
import { self, treasury } from '../helpers/limited-key.ts'
import { testPolicy } from '../helpers/signing-policy.ts'

const intent = { to: treasury, data: '0x', value: '1' }
const first: Attempt = { kind: 'call', gasLimit: '30000', maxFee: '1000', tip: '100' }
const second: Attempt = { ...first, maxFee: '2000', tip: '200' }
const spike = 1_000n
const calm = 10n

/** A pending transaction whose ledger records every attempt. The test sets the chain's data fee. */
function setting(limits: Partial<SigningLimits>, own: Partial<Omit<SigningPolicy, 'limits'>> = {}, call = intent) {
  const seen = {
    dataFee: calm,
    onRecord: () => {},
    recorded: [] as Attempt[],
    asked: [] as string[],
    hashes: [] as string[],
    sent: [] as UnsignedTransaction[],
  }
  const key = {
    address: self,
    sign(transaction: UnsignedTransaction) {
      const raw = JSON.stringify(transaction)
      return Promise.resolve<SignedTransaction>({ raw, hash: raw, signingHash: raw })
    },
  }
  // A no-op has almost no data fee.
  const dataFee = ({ to }: { to: string }) => Promise.resolve(String(to === self ? 1n : seen.dataFee))
  const watch = { inclusion: { kind: 'unseen' }, add: () => {}, onChange: () => {}, close: () => {} }
  const chain = {
    ...{ name: 'test', networkId: '1', raises: true, blockTimeMs: 1_000, heads: { current: { latest: { height: 1, baseFee: '500' } } } },
    watch: () => watch,
    quote: () => Promise.resolve({ baseFee: '500', tip: '100', maxFee: '1100' }),
    noopGas: () => Promise.resolve('21000'),
    send(raw: string) {
      seen.sent.push(JSON.parse(raw) as UnsignedTransaction)
      return Promise.resolve({ kind: 'accepted' })
    },
  } as unknown as Chain
  const ledger = {
    ask(request: LaneRequest) {
      seen.asked.push(request.kind)
      if (request.kind === 'attempt') seen.recorded.push(request.attempt)
      seen.onRecord()
      return Promise.resolve({ kind: 'attempts', attempts: [...seen.recorded] } as unknown as LaneAnswer)
    },
    recordSigned(intentId: string) {
      seen.hashes.push(`${intentId} before ${seen.sent.length + 1}`)
      return Promise.resolve()
    },
  }
  const deps = {
    ...{ chain, ledger, logger: silentLogger(), bumpAfterBlocks: 1, config: { lane: testPolicy().lane } },
    signer: withPolicy(key, testPolicy({ payees: [treasury], dataFee, limits, ...own })),
  } as unknown as LaneDeps
  const pendingWith = (intentId: string, ...attempts: Attempt[]) => {
    seen.recorded = attempts
    return new PendingTransaction(deps, 0, [...attempts], { intentId, intent: call })
  }
  const pendingOf = (...attempts: Attempt[]) => pendingWith('one/1', ...attempts)
  let height = 1
  const blocks = (pending: PendingTransaction, isSo: () => boolean) =>
    until(
      () => {
        pending.onBlock(++height, { latestNonce: 0, balance: String(10n ** 18n) } as Parameters<PendingTransaction['onBlock']>[1])
        return isSo()
      },
      { timeoutMs: 40_000, everyMs: 1, what: 'a block to bring it' },
    )
  return { seen, pendingOf, pendingWith, blocks }
}

describe.each([
  ['maxDataFeePerTransactionWei', '100'],
  ['maxCostPerTransactionWei', String(30_000n * 2_400n + 100n)],
] as const)('the data fee of a call exceeds %s for a while', (limit, allowed) => {
  test('a raise refused after its check is signed as recorded once the reason has passed', async () => {
    const { seen, pendingOf, blocks } = setting({ [limit]: allowed })
    const pending = pendingOf({ ...first, maxFee: '2000' })
    await pending.signAndSend()
    seen.onRecord = () => void (seen.dataFee = 10n ** 9n)
    await pending.bump()
    expect(seen.recorded).toHaveLength(2)
    expect(pending.offered).toEqual(seen.recorded)
    expect(pending.tried).toHaveLength(1)
    seen.dataFee = calm
    seen.onRecord = () => {}
    await blocks(pending, () => pending.tried.length > 1)
    await until(() => seen.sent.at(-1)?.maxFee === seen.recorded[1]?.maxFee, { timeoutMs: 40_000, what: 'it to be sent' })
    expect(seen.recorded).toHaveLength(2)
    expect(seen.asked).toEqual(['attempt'])
  })

  test('after a restart, the attempt of an earlier process is outbid by a no-op, which the signer allows', async () => {
    const { seen, pendingOf } = setting({ [limit]: allowed })
    seen.dataFee = 10n ** 9n
    const pending = pendingOf(first, second)
    await expect(pending.signAndSend()).rejects.toMatchObject({ code: 'SIGNING_REFUSED', facts: { limit, dataFee: String(10n ** 9n) } })
    expect(pending.offered).toEqual([first, second])
    await pending.fill(seen.recorded)
    const [noop] = seen.sent
    expect(noop).toMatchObject({ to: self, value: '0' })
    expect(BigInt(noop!.maxFee)).toBeGreaterThanOrEqual((BigInt(second.maxFee) * 11n) / 10n)
    expect(BigInt(noop!.tip)).toBeGreaterThanOrEqual((BigInt(second.tip) * 11n) / 10n)
  })
})

test('after a restart during a halt: a delivery that an earlier process may have sent is outbid by a no-op', async () => {
  let isHalted = true
  const settings = () => (isHalted ? { ...noSettings, halts: [{ scope: {}, by: 'me', reason: 'a test', at: 0 }] } : noSettings)
  const proveCall = async () => [{ bridge: 'native-bridge', sourceChain: 'ethereum', targetChain: 'bsc' }]
  const delivery = { to: treasury, data: '0x12345678', value: '0' }
  const { seen, pendingOf } = setting({}, { calls: { [treasury]: [delivery.data] }, settings, proveCall }, delivery)
  const pending = pendingOf(first, second)
  await expect(pending.signAndSend()).rejects.toMatchObject({ code: 'HALTED' })
  expect(pending.offered).toEqual([first, second])
  await pending.fill(seen.recorded)
  expect(seen.sent).toMatchObject([{ to: self, value: '0' }])
  expect(BigInt(seen.sent[0]!.maxFee)).toBeGreaterThanOrEqual((BigInt(second.maxFee) * 11n) / 10n)
  // The ledger has not ordered a fill, so the process signs the recorded call when the halt ends.
  const waiting = pendingOf(first)
  await expect(waiting.signAndSend()).rejects.toMatchObject({ code: 'HALTED' })
  isHalted = false
  await waiting.signAndSend()
  expect(seen.sent[1]).toMatchObject({ to: treasury, data: delivery.data })
})

test('a forged attempt near a limit blocks neither an honest raise nor a no-op', async () => {
  const most = 30_000n * 10_000n
  const { seen, pendingOf } = setting({ maxCostPerTransactionWei: String(most) })
  seen.dataFee = spike
  const pending = pendingOf(first, { ...first, maxFee: '10000', tip: '10000' })
  await pending.signAndSend()
  expect(seen.sent).toMatchObject([{ maxFee: first.maxFee }])
  await pending.bump()
  expect(seen.sent).toHaveLength(2)
  expect(BigInt(seen.sent[1]!.maxFee)).toBeLessThan(5_000n)
  await pending.bump('noop')
  expect(seen.sent[2]).toMatchObject({ to: self, value: '0' })
})

test('an attempt that exceeds a limit without its data fee is refused for good and never outbid', async () => {
  const { seen, pendingOf } = setting({ maxTipPerGasWei: '500' })
  const pending = pendingOf(first, { ...first, maxFee: '10000', tip: '10000' })
  await pending.signAndSend()
  expect(pending.offered).toEqual([first])
  await pending.bump()
  expect(BigInt(seen.sent[1]!.maxFee)).toBeLessThan(5_000n)
})

test('each hash of an operator transaction is recorded before it is sent; those of a transfer are not', async () => {
  const { seen, pendingOf, pendingWith } = setting({})
  await pendingOf(first).signAndSend()
  expect([seen.sent.length, seen.hashes]).toEqual([1, []])
  const intentId = `${operatorTransactionPrefix}${testPolicy().lane}:0123456789abcdef/1`
  const pending = pendingWith(intentId, first)
  await pending.signAndSend()
  await pending.bump()
  expect(seen.hashes).toEqual([`${intentId} before 2`, `${intentId} before 3`])
})
