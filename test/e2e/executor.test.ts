import { toChain } from '@wormhole-foundation/sdk-base'
import { fetchStatus } from '@wormhole-foundation/sdk-definitions'
import { dataSlice, getBytes, hexlify, id, Interface, SigningKey } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRequest, requestTopic } from '../../bridges/executor/event.ts'
import { digestOf } from '../../bridges/executor/message.ts'
import { decodeQuote } from '../../bridges/executor/quote.ts'
import { placeOf } from '../../domain/stream/places.ts'
import { watermarks } from '../../lab/demo/streams.ts'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import { deployExecutors, devnetQuoter, executorConfig, type ExecutorEnd, quoterVariable } from '../../lab/devnet/executor/deploy.ts'
import { type ExecutorMessage, requestDelivery, type SentRequest } from '../../lab/devnet/executor/users.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { until } from '../../lab/devnet/until.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { signed } from '../helpers/executor.ts'

const receiverAbi = new Interface(['function count() view returns (uint256)'])

describe('Requests for execution, paid for with quotes of this Portage', () => {
  let stage: Stage
  let portage: PortageProcess
  let ends: [ExecutorEnd, ExecutorEnd]

  const start = (honourExpired: boolean) => {
    const executor = { ...executorConfig(ends), honourExpired }
    executor.chains['ethereum']!.recordContract = ends[0].record
    return stage.portage({
      configure: (config) => ({ ...config, bridges: { ...config.bridges, executor } }),
      env: { [quoterVariable]: devnetQuoter.privateKey },
    })
  }

  beforeAll(async () => {
    stage = await startStage()
    const { ethereum, bsc } = stage.devnet.chains
    ends = await deployExecutors([ethereum, bsc])
    portage = await start(false)
  })

  afterAll(() => stage?.close())

  const request = (from: ExecutorEnd, to: ExecutorEnd, message: Omit<ExecutorMessage, 'payload'> = {}) =>
    requestDelivery(`${portage.apiUrl}/v0`, from, to, { payload: '0x01', ...message })

  interface RawLog {
    readonly address: string
    readonly topics: readonly string[]
    readonly data: string
    readonly logIndex: string
  }

  async function idOf({ chain, executor }: ExecutorEnd, { transaction }: SentRequest): Promise<string> {
    const { transactionHash: txHash, blockNumber: height } = transaction
    const { logs } = await chain.anvil.rpc<{ logs: readonly RawLog[] }>('eth_getTransactionReceipt', [txHash])
    const log = logs.find(({ topics }) => topics[0] === requestTopic)
    if (!log) throw new Error('no request was logged')
    const [sourceChain, logIndex] = [chain.wormholeChainId, Number(log.logIndex)]
    const digest = digestOf({ sourceChain, height, logIndex, txHash, request: readRequest(chain, log), attested: [] })
    const sequence = placeOf(height, logIndex)
    return transferId({ bridge: 'executor', sourceId: String(sourceChain), emitter: toUniversal(executor), sequence, digest })
  }

  const rowsOf = ({ chain }: ExecutorEnd, { transaction: { transactionHash } }: SentRequest) =>
    fetchStatus(`${portage.apiUrl}/v0`, transactionHash, toChain(chain.wormholeChainId))

  const coinsOf = async ({ chain, receiver }: ExecutorEnd, owner = receiver) =>
    BigInt(await chain.anvil.rpc<string>('eth_getBalance', [owner, 'latest']))
  const countOf = async ({ chain, receiver }: ExecutorEnd) => {
    const call = { to: receiver, data: receiverAbi.encodeFunctionData('count') }
    return BigInt(await chain.anvil.rpc<string>('eth_call', [call, 'latest']))
  }

  test('a paid request is delivered both ways, with the coins that were paid for', async () => {
    const [ethereum, bsc] = ends
    const recipient = freshAddress()
    const there = await request(ethereum, bsc, { msgValue: 7n, dropOff: { amount: 5n, recipient } })
    const back = await request(bsc, ethereum)
    const ids = await Promise.all([idOf(ethereum, there), idOf(bsc, back)])
    const outcomes = await stage.outcomes(ids)
    expect(outcomes.map(({ state, delivery }) => [state, delivery?.ours])).toEqual([
      ['delivered', true],
      ['delivered', true],
    ])
    expect([await coinsOf(bsc), await coinsOf(bsc, recipient)]).toEqual([7n, 5n])
    expect([await countOf(ethereum), await countOf(bsc)]).toEqual([1n, 1n])
    await until(async () => (await watermarks(stage.client)).every(({ open }) => open === 0), {
      ...{ timeoutMs: 30_000, everyMs: 200, what: 'the streams to see the deliveries' },
    })
    const report = await fetch(`${portage.apiUrl}/v1/transfers/${ids[0]}`, { headers: portage.admin })
    const { paid, worth, coins, profit } = (await report.json()) as Record<string, string>
    expect([paid, coins]).toEqual([String(there.estimatedCost), '12'])
    expect(BigInt(profit!)).toBe(BigInt(worth!) - 12n - BigInt(outcomes[0]!.delivery!.gasPaid!))
    const metrics = await (await fetch(`${portage.apiUrl}/metrics`)).text()
    for (const name of ['fees_earned', 'delivery_cost'])
      expect(metrics).toMatch(new RegExp(`^portage_${name}_wei_total\\{chain="bsc",bridge="executor"\\} [1-9]`, 'm'))
  })

  test('an underpaid request, and one for a contract without a view, cost nothing', async () => {
    const [ethereum, bsc] = ends
    const before = await countOf(bsc)
    const underpaid = await request(ethereum, bsc, { pay: (cost) => cost - 1n })
    const strange = await request(ethereum, { ...bsc, receiver: freshAddress() })
    const paid = await request(ethereum, bsc)
    expect(await stage.outcomes([await idOf(ethereum, paid)])).toMatchObject([{ state: 'delivered' }])
    const statusOf = async (sent: SentRequest) =>
      (await rowsOf(ethereum, sent)).map(({ status, txs }) => ({ status, sent: txs?.length ?? 0 }))
    const [known] = await rowsOf(ethereum, paid)
    const place = paid.transaction.logs.findIndex(({ topics }) => topics[0] === requestTopic)
    expect(BigInt(dataSlice(known!.id, 35))).toBe(BigInt(place))
    expect(await statusOf(paid)).toEqual([{ status: 'submitted', sent: 1 }])
    expect(await statusOf(underpaid)).toEqual([{ status: 'underpaid', sent: 0 }])
    expect(await statusOf(strange)).toEqual([{ status: 'unsupported', sent: 0 }])
    expect(await rowsOf(ethereum, strange)).toMatchObject([{ failureCause: expect.stringContaining('no view of') }])
    expect(await stage.outcomes([await idOf(ethereum, strange)])).toMatchObject([{ state: 'declined', code: 'EXECUTOR_UNSUPPORTED' }])
    await expect(stage.client.workflow.getHandle(await idOf(ethereum, underpaid)).describe()).rejects.toThrow('not found')
    expect(await countOf(bsc)).toBe(before + 1n)
  })

  test('a contract without a view gets its message through the record, once for each payment', async () => {
    const [ethereum, bsc] = ends
    const script = await Script.of(ethereum.chain.anvil, ethereum.chain.deployer)
    const from = [bsc.chain.wormholeChainId, `0x${toUniversal(bsc.sender)}`]
    const receiver = script.deploy('MessageReceiver', [ethereum.chain.core, ...from], await compiledArtifact('MessageReceiver'))
    await script.mine()
    const [unlisted, recipient] = [{ ...ethereum, receiver }, freshAddress()]
    const sent = await request(bsc, unlisted, { gasLimit: 400_000n, msgValue: 3n, dropOff: { amount: 2n, recipient } })
    const [outcome] = await stage.outcomes([await idOf(bsc, sent)])
    expect(outcome).toMatchObject({ state: 'delivered', delivery: { ours: true } })
    expect([await countOf(unlisted), await coinsOf(unlisted), await coinsOf(ethereum, recipient)]).toEqual([1n, 3n, 2n])
    const { rpc } = ethereum.chain.anvil
    const delivering = await rpc<{ to: string; input: string; value: string }>('eth_getTransactionByHash', [outcome!.delivery!.txHash])
    expect(delivering.to).toBe(ethereum.record)
    const again = { from: ethereum.user.address, to: ethereum.record, data: delivering.input, value: delivering.value }
    await expect(rpc('eth_call', [again, 'latest'])).rejects.toThrow(id('AlreadyDelivered(bytes32)').slice(0, 10))
  })

  test.each([
    [false, 'declined', { status: 'aborted', failureCause: expect.stringContaining('the quote expired at'), txs: [] }],
    [true, 'delivered', { status: 'submitted', txs: [{ chainId: 4 }] }],
  ])('with honourExpired: %s, a request whose message is signed after its quote expires is %s', async (honours, state, row) => {
    if (honours) {
      await stage.end(portage)
      portage = await start(true)
    }
    const [ethereum, bsc] = ends
    const { guardian } = stage.devnet
    const before = await countOf(bsc)
    let expiry = 0
    await guardian.pause()
    const late = await request(ethereum, bsc, {
      quoteOf(signedQuote) {
        expiry = Math.floor(Date.now() / 1_000) + 5
        return hexlify(signed({ ...decodeQuote(getBytes(signedQuote))!, expiry: BigInt(expiry) }, new SigningKey(devnetQuoter.privateKey)))
      },
    })
    await until(() => Date.now() > (expiry + 1) * 1_000, { timeoutMs: 30_000, everyMs: 100, what: 'the quote to expire' })
    guardian.resume()
    const [outcome] = await stage.outcomes([await idOf(ethereum, late)])
    expect(outcome).toMatchObject({ state, ...(!honours && { code: 'EXECUTOR_EXPIRED' }) })
    expect(await countOf(bsc)).toBe(before + (honours ? 1n : 0n))
    expect(await rowsOf(ethereum, late)).toMatchObject([row])
  })
})
