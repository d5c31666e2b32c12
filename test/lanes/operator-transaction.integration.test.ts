import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLaneSteps } from '../../activities/index.ts'
import type { Signer } from '../../chains/signing-port.ts'
import { createSigner } from '../../chains/evm/index.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { devnetAccount, freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { type Kms, kmsEnvironment, kmsKeyId, startKms } from '../../lab/devnet/signing/kms.ts'
import { until } from '../../lab/devnet/until.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import type { FeePolicy } from '../../domain/fees/fees.ts'
import {
  cancelOperatorTransactionSignal,
  operatorTransactionStatusQuery,
  type OperatorTransactionInput,
  type OperatorTransactionStatus,
} from '../../temporal/contracts/operator-transaction.ts'
import { drainSignal } from '../../temporal/contracts/lane.ts'
import { laneQueue, ledgerQueue, laneWorkflowId } from '../../temporal/contracts/names.ts'
import { pooled } from '../helpers/e2e-chain.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { isBeingSent } from './operator-transaction-run.ts'
import { resetRun } from './reset-run.ts'
import { laneOf, startLaneSetting, type LaneSetting } from './setting.ts'

const waitLimit = { timeoutMs: 90_000 }

describe('An operator transaction', () => {
  let setting: LaneSetting
  let signer: Signer
  let kms: Kms
  let end: () => Promise<void>
  let policy: FeePolicy = {}

  async function serve(key: Signer): Promise<() => Promise<void>> {
    const agent = await setting.agent(key)
    const { connection, namespace } = setting.ledgers.temporal
    const deps = { bridges: new Map(), agent, chain: setting.chain, settings: () => noSettings, fees: () => policy }
    const activities = createLaneSteps(deps)
    const worker = await Worker.create({ connection, namespace, taskQueue: laneQueue(agent.lane), activities, shutdownGraceTime: 0 })
    const running = worker.run()
    return async () => {
      worker.shutdown()
      await running
      agent.stop()
    }
  }
  /** A KMS, which signs the same transaction differently each time. */
  const inKms = () => {
    Object.assign(process.env, kmsEnvironment)
    const account = devnetAccount(20)
    return createSigner({ kind: 'aws-kms', keyId: kmsKeyId(account), endpoint: kms.url, region: 'us-east-1' }, account.address)
  }

  beforeAll(async () => {
    ;[setting, signer, kms] = await Promise.all([startLaneSetting(), devnetSigner(20), startKms([devnetAccount(20)])])
    end = await serve(signer)
  })

  afterAll(async () => {
    await end?.()
    await setting?.stop()
    await kms?.stop()
  })

  const client = () => setting.ledgers.temporal.client.workflow
  let operatorTransactions = 0

  function start(intent: Partial<OperatorTransactionInput['intent']> = {}) {
    const input = {
      lane: laneOf(signer),
      intent: { to: freshAddress(), data: '0x', value: '5', ...intent },
      by: 'a test',
      reason: 'a test',
    }
    return client().start<(input: OperatorTransactionInput) => Promise<OperatorTransactionStatus>>('operatorTransaction', {
      taskQueue: ledgerQueue,
      workflowId: `operator-transaction:${laneOf(signer)}:${++operatorTransactions}`,
      args: [input],
    })
  }

  const inPool = (count: number) =>
    until(async () => (await pooled(setting.anvil, signer.address)).length === count, { ...waitLimit, what: `${count} in the pool` })

  test('an operator transaction pays once with a nonce of its lane, though the lane drains', async () => {
    await client()
      .getHandle(laneWorkflowId(laneOf(signer)))
      .signal(drainSignal, { order: { by: 'night-shift', reason: 'a test' } })
    const to = freshAddress()
    const operatorTransaction = await start({ to, value: '7' })
    await inPool(1)
    await setting.mine(3)
    expect(await operatorTransaction.result()).toMatchObject({
      state: 'done',
      nonce: 0,
      blockHeight: expect.any(Number),
      txHash: expect.any(String),
    })
    expect(BigInt(await setting.anvil.rpc<string>('eth_getBalance', [to, 'latest']))).toBe(7n)
  })

  test('an operator transaction that would revert sends nothing', async () => {
    const to = freshAddress()
    await setting.anvil.rpc('anvil_setCode', [to, '0x60006000fd'])
    expect(await (await start({ to, value: '0' })).result()).toMatchObject({ state: 'impossible' })
  })

  test('an operator transaction with too much gas is never sent, and one that is too expensive waits', async () => {
    policy = { gasLimit: '20000' }
    expect(await (await start()).result()).toMatchObject({ state: 'impossible', detail: expect.stringContaining('GAS_LIMIT') })
    policy = { baseFeeCeiling: '1' }
    const operatorTransaction = await start()
    const says = async () => (await operatorTransaction.query(operatorTransactionStatusQuery)).detail
    await until(async () => (await says()).startsWith('FEE_CEILING'), { ...waitLimit, what: 'the ceiling to be reported' })
    const { maxFee, tip } = await setting.chain.quote()
    policy = { maxFeePerGas: String(BigInt(maxFee) - 1n), maxTip: tip }
    await inPool(1)
    expect((await pooled(setting.anvil, signer.address))[0]?.maxFeePerGas).toBe(BigInt(maxFee) - 1n)
    await setting.mine(3)
    expect(await operatorTransaction.result()).toMatchObject({ state: 'done', nonce: 1 })
    policy = {}
  })

  test("an operator transaction cancelled in the pool ends with the lane's no-op", async () => {
    const operatorTransaction = await start()
    await inPool(1)
    // The step follows the transaction for ten seconds before it checks for a cancel.
    await operatorTransaction.signal(cancelOperatorTransactionSignal, { order: { by: 'somebody', reason: 'a change of mind' } })
    const noop = async () => {
      await setting.passBlock()
      return (await pooled(setting.anvil, signer.address))[0]?.to === signer.address
    }
    await until(noop, { ...waitLimit, what: 'a no-op in its place' })
    const over = async () => {
      await setting.mine()
      return (await operatorTransaction.describe()).status.name !== 'RUNNING'
    }
    await until(over, { ...waitLimit, what: 'the operator transaction to end' })
    expect(await operatorTransaction.result()).toMatchObject({
      state: 'cancelled',
      nonce: 2,
      detail: expect.stringContaining('a change of mind'),
    })
  })

  test('an operator transaction reset in its second round goes on with the nonce of this round', async () => {
    const to = freshAddress()
    const operatorTransaction = await start({ to, value: '11' })
    await inPool(1)
    const nonce = (await pooled(setting.anvil, signer.address))[0]?.nonce ?? -1
    // Let a no-op use the payment's first nonce.
    await setting.ledgers.order(laneOf(signer), { kind: 'cancelNonce', id: 'c', nonce })
    const again = async () => {
      const [first] = await pooled(setting.anvil, signer.address)
      // If the pool is empty, the payment may enter it at any moment. An empty block then keeps the payment from being
      // mined before the test has seen it.
      await (first?.to === signer.address ? setting.mine() : setting.passBlock())
      return first !== undefined && first.nonce > nonce
    }
    await until(again, { ...waitLimit, everyMs: 200, what: 'the payment with another nonce' })
    await resetRun(setting.ledgers.temporal, operatorTransaction.workflowId, 'first')
    const after = client().getHandle<(input: OperatorTransactionInput) => Promise<OperatorTransactionStatus>>(
      operatorTransaction.workflowId,
    )
    const found = async () => {
      const { state, detail } = await after.query(operatorTransactionStatusQuery)
      return state === 'pending' || (detail.includes('holds a nonce') && (await isBeingSent(after)))
    }
    await until(found, { ...waitLimit, what: 'the new run to have the nonce' })
    const over = async () => {
      await setting.mine()
      return (await after.describe()).status.name !== 'RUNNING'
    }
    await until(over, { ...waitLimit, everyMs: 200, what: 'the operator transaction to end' })
    expect(await after.result()).toMatchObject({ state: 'done', nonce: nonce + 1 })
    expect(BigInt(await setting.anvil.rpc<string>('eth_getBalance', [to, 'latest']))).toBe(11n)
  })

  test('an operator transaction reset after its payment pays nothing again', async () => {
    const to = freshAddress()
    const operatorTransaction = await start({ to, value: '13' })
    await inPool(1)
    await setting.mine(3)
    expect(await operatorTransaction.result()).toMatchObject({ state: 'done' })
    await resetRun(setting.ledgers.temporal, operatorTransaction.workflowId, 'first')
    // Both runs of the workflow recorded the hashes that they signed.
    expect(await client().getHandle(operatorTransaction.workflowId).result()).toMatchObject({ state: 'done' })
    await setting.mine(3)
    expect(BigInt(await setting.anvil.rpc<string>('eth_getBalance', [to, 'latest']))).toBe(13n)
  })

  const balance = async (to: string) => BigInt(await setting.anvil.rpc<string>('eth_getBalance', [to, 'latest']))

  test('a payment is made once, even if its process is down until finality and each signature is different', async () => {
    await end()
    end = await serve(await inKms())
    const to = freshAddress()
    const operatorTransaction = await start({ to, value: '17' })
    await inPool(1)
    const [sent] = await pooled(setting.anvil, signer.address)
    await end()
    await setting.mine(5)
    end = await serve(await inKms())
    expect(await operatorTransaction.result()).toMatchObject({ state: 'done', nonce: sent!.nonce, txHash: sent!.hash })
    await setting.mine(3)
    expect(await balance(to)).toBe(17n)
  })

  test('an operator transaction sent before its key refused it ends as its nonce is mined', async () => {
    const to = freshAddress()
    const operatorTransaction = await start({ to, value: '19' })
    await inPool(1)
    await end()
    const refusing: Signer = {
      address: signer.address,
      sign: (transaction) => {
        if (transaction.to === to) throw new RelayerError('SIGNING_REFUSED', { detail: 'a test' })
        return signer.sign(transaction)
      },
    }
    end = await serve(refusing)
    const isNoop = async () => (await pooled(setting.anvil, signer.address))[0]?.to === signer.address
    await setting.passUntil('a no-op in its place', isNoop)
    const over = async () => (await operatorTransaction.describe()).status.name !== 'RUNNING'
    await setting.mineUntil(over, 'the operator transaction to end')
    expect(await operatorTransaction.result()).toMatchObject({
      state: 'cancelled',
      detail: expect.stringContaining('refused after it had been sent'),
    })
    expect(await balance(to)).toBe(0n)
    await end()
    end = await serve(signer)
  })
})
