import { concat, toBeHex, zeroPadValue } from 'ethers'
import { createVerifier } from '../../bridges/kit/signed-messages.ts'
import { createExecutorEndpoint } from '../../bridges/executor/evm.ts'
import type { ExecutorTerms } from '../../bridges/executor/judge.ts'
import { createDecode, type ExecutorMessage, writeMessage } from '../../bridges/executor/message.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { bytesOf, quoter, signed } from '../helpers/executor.ts'
import { signVaa } from '../helpers/vaa.ts'

export const address = (digit: string) => `0x${digit.repeat(40)}`
export const universal = (of: string) => of.slice(2).padStart(64, '0')
export const [executor, receiver, other, sender] = ['a', 'b', 'c', 'd'].map(address) as [string, string, string, string]
const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
  [5, 'polygon'],
])

export const quote = (prices: { gasPrice?: bigint; expiry?: bigint; targetChain?: number } = {}) =>
  signed({
    ...{ quoter, payee: universal(address('e')), sourceChain: 2, targetChain: 4, expiry: 2_000_000_000n, baseFee: 0n },
    ...{ gasPrice: 1n, sourcePrice: 1n, targetPrice: 1n, ...prices },
  })
export const gasOf = (gasLimit: bigint) => Buffer.from(bytesOf([{ type: 'GasInstruction', gasLimit, msgValue: 5n }]))
export const instructions = gasOf(100_000n)
export const requestFor = (sequence: bigint) =>
  Buffer.from(concat(['0x45525631', toBeHex(2, 2), zeroPadValue(sender, 32), toBeHex(sequence, 8)]).slice(2), 'hex')
export const vaaOf = (payload = '0x01', { guardians = 3, from = universal(sender), sequence = 7n } = {}) =>
  signVaa({ emitterChain: 2, emitter: from, sequence, payload }, { guardians }).bytes

export const message = (change: Partial<ExecutorMessage['request']> = {}, vaa: Uint8Array = vaaOf()): ExecutorMessage => ({
  ...{ sourceChain: 2, height: 9, logIndex: 3, txHash: `0x${'09'.repeat(32)}`, attested: vaa.length > 0 ? [vaa] : [] },
  request: {
    ...{ quoter, amountPaid: 100_005n, targetChain: 4, targetAddress: universal(receiver), refundAddress: address('f') },
    ...{ signedQuote: quote(), request: requestFor(7n), instructions, ...change },
  },
})
/** Requests that the source has logged. `verifyRequest` refuses all other requests. */
export const logs = [writeMessage(message({}, new Uint8Array()))]
export const record = address('9')
/** Refund address of requests about which no node answers. */
export const unread = address('8')

export const within = { bridge: 'ntt', sourceChain: 'polygon' }

export interface Setting {
  isDelivered?: () => boolean
  isAway?: () => boolean
  published?: Uint8Array
  recordContract?: string
  clock?: () => number
}

const receivers = { [receiver]: { view: 'isReceived(bytes32)', args: ['$digest'], is: 'true' } }
const termsWith = (recordContract?: string): ExecutorTerms => {
  const caps = { maxGasLimit: 1_000_000n, maxMsgValue: 10n, maxGasDropOff: 5n }
  const ofChain = { caps, receivers, recordContract, prefixes: ['ERV1'] as const }
  return { ...{ quoter, honourExpired: false }, chains: new Map([4, 5].map((chain) => [chain, ofChain])) }
}

export const [always, never] = [() => true, () => false]

export function endpointOf({ isDelivered = never, isAway = never, published, recordContract, clock }: Setting = {}) {
  const set = { index: 0, keys: devnetGuardians(3).map(({ address: key }) => key), expirationTime: 0, current: true }
  return createExecutorEndpoint({
    chain: { name: 'bsc', call: async () => toBeHex(isDelivered() ? 1n : 0n, 32) },
    wormholeId: 4,
    terms: termsWith(recordContract),
    maxMsgValue: 10n,
    clock,
    receivers,
    recordContract,
    verify: createVerifier({ get: async () => set }, () => 1_700_000_000),
    verifyRequest: async (one) => {
      if (isAway() || one.request.refundAddress === unread) throw new RelayerError('NODE_UNAVAILABLE')
      const asLogged = writeMessage({ ...one, attested: [] })
      if (!logs.some((log) => Buffer.compare(log, asLogged) === 0)) throw new RelayerError('PLACE_MISMATCH')
    },
    decode: createDecode(new Map([[2, { name: 'ethereum', contract: executor }]]), names),
    within: () => [within],
    findVaa: async (_, check) => {
      if (!published) return { kind: 'absent', why: 'not signed yet' }
      await check(published)
      return { kind: 'found', vaa: published }
    },
  })
}

const decode = createDecode(new Map([[2, { name: 'ethereum', contract: executor }]]), names)
export const transferOf = (one: ExecutorMessage) => decode(writeMessage(one))
