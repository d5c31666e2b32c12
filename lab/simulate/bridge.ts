import type { Bridge, Endpoint, Verdict } from '../../bridges/port.ts'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { deliveredBy, deliveryCall, fold, type Network } from './chain/network.ts'
import type { ChainView } from './chain/view.ts'

export const bridgeName = 'simulated'
export const sourceName = 'source'

/** `isForged`: no source has sent the message, so its transfer must end as rejected, and no key may sign its call. */
interface Message {
  readonly target: string
  readonly sequence: string
  readonly isForged?: true
}

export function messageOf(message: Message): Transfer {
  const text = JSON.stringify(message)
  return {
    bridge: bridgeName,
    sourceChain: sourceName,
    sourceId: '1',
    targetChain: message.target,
    emitter: '00'.repeat(32),
    sequence: message.sequence,
    digest: `0x${fold(text)}`,
    message: Buffer.from(text).toString('base64'),
  }
}

function decode(bytes: Uint8Array): Transfer {
  return messageOf(JSON.parse(Buffer.from(bytes).toString()) as Message)
}

export function keyOf({ sequence, digest }: Transfer): string {
  return `${sequence}/${digest.slice(2, 10)}`
}

function isForged({ message }: Transfer): boolean {
  return (JSON.parse(Buffer.from(message, 'base64').toString()) as Message).isForged === true
}

/** One bridge over the simulated chains. `isForged` replaces signatures, so contracts do not check a proof. */
export function createBridge(chains: readonly { readonly network: Network; readonly view: ChainView }[]): Bridge {
  const endpoints = new Map(chains.map((one) => [one.network.options.name, endpointOf(one)]))
  return { name: bridgeName, decode, content: () => ({}), endpoints, sources: [] }
}

function endpointOf({ network, view }: { readonly network: Network; readonly view: ChainView }): Endpoint {
  const { name, guards } = network.options
  const validate = async (transfer: Transfer): Promise<Verdict> =>
    view.read(() => {
      if (!isForged(transfer)) return { kind: 'valid' }
      return { kind: 'rejected', code: 'VAA_NO_QUORUM', reason: 'no source sent it' }
    })
  const shown = (transfer: Transfer, at: At) => view.read((height) => network.delivered(keyOf(transfer), height), at)
  return {
    chain: name,
    calls: {},
    verify: (message) => validate(decode(message)),
    validate,
    delivered: async (transfer, at) => (await shown(transfer, at)) !== undefined,
    async findDelivery(transfer) {
      const mined = await shown(transfer, 'latest')
      if (!mined) return undefined
      const { transaction, height, blockHash } = mined
      return { by: transaction.from, txHash: transaction.hash, blockHeight: height, blockHash }
    },
    delivery: (transfer) => ({
      call: async () => deliveryCall(keyOf(transfer)),
      parties: { bridge: bridgeName, targetChain: name, recipient: '0x', token: '0x', emitter: transfer.emitter } as never,
      revertsOnceDelivered: guards,
    }),
    async proveCall({ data, to }) {
      if (deliveredBy({ to, data }) === undefined) throw new RelayerError('CALL_UNJUSTIFIED', { detail: 'no delivery' })
      return [sourceName]
    },
    explainRevert: ({ reason }) =>
      reason === 'delivered already' ? { kind: 'delivered' } : { kind: 'unknown', code: 'DELIVERY_REVERTED', reason },
    hasEffect: ({ status, hash }, transfer) => {
      const mined = network.byHash.get(hash)
      return status === 'success' && mined !== undefined && deliveredBy(mined.transaction) === keyOf(transfer)
    },
  }
}
