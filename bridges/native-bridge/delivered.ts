import type { At, Receipt } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { ContractReader } from '../common/contract-reader.ts'
import { readInboundNonce } from './contracts.ts'
import { showsCompletion } from './events.ts'
import type { Open, OpenTransfers } from './open.ts'

/** Where most nodes are asked about what one node says of its own state. */
const quorumOf: Partial<Record<At, At>> = { latest: 'agreed-latest', finalized: 'agreed' }

/**
 * `Endpoint.delivered`. Throws NATIVE_NONCE_MISMATCH, which halts the route: the id includes the nonce, so that no honest contract completes it under
 * another one. One node's word for that is asked of the others first, since the error parks the transfer. Throws NODES_DISAGREE.
 */
export function createDelivered(chain: ContractReader, open: OpenTransfers) {
  return async function delivered(transfer: Transfer, at: At): Promise<boolean> {
    const { message, route } = open.of(transfer)
    const nonceAt = (state: At) => readInboundNonce(chain, route.targetBridge, message.id, state)
    const isOther = (nonce: bigint) => nonce !== 0n && nonce !== message.nonce
    const quorum = quorumOf[at]
    const first = await nonceAt(at)
    const nonce = isOther(first) && quorum ? await nonceAt(quorum) : first
    if (!isOther(nonce)) return nonce !== 0n
    const facts = { chain: chain.name, id: message.id, nonce: String(message.nonce), completedUnder: String(nonce) }
    throw new RelayerError('NATIVE_NONCE_MISMATCH', { facts })
  }
}

/** Does this receipt of ours show the completion of this transfer? */
export function hasCompletion({ status, block, hash: transactionHash, logs }: Receipt, { message, route }: Open): boolean {
  const shows = logs.some(
    (log) => log.address.toLowerCase() === route.targetBridge && showsCompletion({ ...log, block, transactionHash }, message),
  )
  return status === 'success' && shows
}
