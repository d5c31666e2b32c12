import { concat, toBeHex, zeroPadValue } from 'ethers'
import { expect, test } from 'vitest'
import { executorAbi } from '../../bridges/executor/event.ts'
import { type ExecutorMessage, writeMessage } from '../../bridges/executor/message.ts'
import { createExecutorBridge } from '../../bridges/executor-bridge.ts'
import { executorSchema } from '../../config/schema/executor-schema.ts'
import { bytesOf, quoter, signed } from '../helpers/executor.ts'
import { unused } from '../helpers/unused.ts'
import { signVaa } from '../helpers/vaa.ts'

const contract = `0x${'44'.repeat(20)}`
const receiver = `0x${'33'.repeat(20)}`
const sender = `0x${'dd'.repeat(20)}`
const universal = (address: string) => address.slice(2).padStart(64, '0')
const vaa = signVaa({ emitterChain: 2, emitter: universal(sender), sequence: 7n, payload: '0x01' }, { guardians: 1 }).bytes

/** Logs requests with these gas limits in one final block. Each request pays `paid` wei. */
function setting(limits: readonly bigint[], terms: object = {}, paid = 100_000n) {
  const quote = signed({
    ...{ quoter, payee: '00'.repeat(32), sourceChain: 2, targetChain: 4, expiry: 2n ** 40n, baseFee: 0n },
    ...{ gasPrice: 1n, sourcePrice: 1n, targetPrice: 1n },
  })
  const request = Buffer.from(concat(['0x45525631', toBeHex(2, 2), zeroPadValue(sender, 32), toBeHex(7, 8)]).slice(2), 'hex')
  const messages = limits.map((gasLimit, logIndex): ExecutorMessage => {
    const instructions = Buffer.from(bytesOf([{ type: 'GasInstruction', gasLimit, msgValue: 0n }]))
    return {
      ...{ sourceChain: 2, height: 9, logIndex, txHash: `0x${'09'.repeat(32)}`, attested: [] },
      request: {
        ...{
          quoter: quoter.toLowerCase(),
          amountPaid: paid,
          targetChain: 4,
          targetAddress: universal(receiver),
          refundAddress: contract,
        },
        ...{ signedQuote: quote, request, instructions },
      },
    }
  })
  const logs = messages.map(({ request: one, height, logIndex: index, txHash: transactionHash }) => {
    const asked = [one.quoter, one.amountPaid, one.targetChain, `0x${one.targetAddress}`, one.refundAddress, one.signedQuote]
    const log = executorAbi.encodeEventLog('RequestForExecution', [...asked, one.request, one.instructions])
    return { address: contract, ...log, block: { height, hash: `0x${'01'.repeat(32)}` }, index, transactionHash }
  })
  const own = {
    contract,
    payee: contract,
    price: '1',
    receivers: { [receiver]: { view: 'isReceived(bytes32)', args: ['$digest'] } },
    ...terms,
  }
  const chainOf = (name: string, id: number) => ({
    ...{ name, networkId: String(id), heads: { current: { finalized: 9 } } },
    logs: async () => (name === 'ethereum' ? logs : []),
    call: async () => toBeHex(0, 32),
  })
  const connected = new Map([['ethereum', chainOf('ethereum', 1)] as const, ['bsc', chainOf('bsc', 56)] as const])
  const contracts = { core: contract, tokenBridge: contract }
  const bridge = createExecutorBridge(
    {
      bridges: { executor: executorSchema.parse({ quoter: { address: quoter }, chains: { ethereum: own, bsc: own } }) },
      chains: { ethereum: { wormholeChainId: 2, networkId: 1, contracts }, bsc: { wormholeChainId: 4, networkId: 56, contracts } },
    },
    {
      ...{ connected, served: connected, verifierOf: () => async () => {}, findVaa: unused('findVaa') },
      ...{ signed: { isDelivered: unused('isDelivered'), decode: unused('decode') }, attestations: unused('attestations') },
    } as never,
  )
  const transferOf = (one: ExecutorMessage) => bridge.decode(writeMessage(one))
  const source = bridge.sources.find(({ sourceChain }) => sourceChain === 'ethereum')!
  return { messages, transferOf, source, endpoint: bridge.endpoints.get('bsc')! }
}

test('a request below the minimum gas limit starts no transfer, but a started transfer is not declined', async () => {
  const { messages, transferOf, source, endpoint } = setting([99_999n, 100_000n])
  const [less, least] = messages as [ExecutorMessage, ExecutorMessage]
  if (source.kind !== 'placed') throw new Error('the source has no places')
  expect((await source.initiated({ fromBlock: 9, toBlock: 9 })).map(({ transfer }) => transfer)).toEqual([transferOf(least)])
  expect(await endpoint.verify(writeMessage(least))).toEqual({ kind: 'valid' })
  const started = transferOf({ ...less, attested: [vaa] })
  expect(await endpoint.validate(started)).toEqual({ kind: 'valid' })
  const call = await endpoint.delivery(started).call()
  expect(await endpoint.proveCall(call, '99999')).toMatchObject([{ bridge: 'executor', payment: started.digest }, {}])
  // The endpoint remembers the check above for an hour, but the API must not use it to start a transfer.
  expect(await endpoint.verify(writeMessage(less))).toMatchObject({
    ...{ kind: 'declined', code: 'EXECUTOR_UNSUPPORTED', reason: expect.stringContaining('the gas limit 99999 is below 100000') },
  })
})

test.each([
  ['with gas above a cap that was lowered', { maxGasLimit: '400000' }, 'the gas limit 1000000 is above 400000'],
  ['for a receiver that was removed', { receivers: {} }, 'no view of 0x3333'],
])('a paid request with our quote, %s, starts a transfer, which is declined', async (_, terms, reason) => {
  const { messages, transferOf, source, endpoint } = setting([1_000_000n], terms, 1_000_000n)
  const [sold] = messages as [ExecutorMessage]
  if (source.kind !== 'placed') throw new Error('the source has no places')
  expect((await source.initiated({ fromBlock: 9, toBlock: 9 })).map(({ transfer }) => transfer)).toEqual([transferOf(sold)])
  expect(await endpoint.verify(writeMessage(sold))).toEqual({ kind: 'valid' })
  const declined = { kind: 'declined', code: 'EXECUTOR_UNSUPPORTED', reason: expect.stringContaining(reason) as string }
  expect(await endpoint.validate(transferOf(sold))).toMatchObject(declined)
  // Admission declines the transfer only after it has asked whether somebody else delivered the message.
  expect(await endpoint.delivered(transferOf({ ...sold, attested: [vaa] }), 'latest')).toBe(false)
})

test('a request above the caps starts no transfer if it is not paid in full', async () => {
  const { messages, source, endpoint } = setting([1_000_000n], { maxGasLimit: '400000' }, 999_999n)
  if (source.kind !== 'placed') throw new Error('the source has no places')
  expect(await source.initiated({ fromBlock: 9, toBlock: 9 })).toEqual([])
  expect(await endpoint.verify(writeMessage(messages[0]!))).not.toMatchObject({ kind: 'valid' })
})
