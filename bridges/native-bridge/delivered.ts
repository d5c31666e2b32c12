import type { At, Receipt } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { ContractReader } from '../kit/contract-reader.ts'
import { isLogOf } from '../kit/logs.ts'
import { readInboundNonce } from './contracts.ts'
import { completionLog } from './events.ts'
import type { NativeTransfer } from './message.ts'
import type { Open, OpenTransfer } from './open.ts'

/** Where most nodes are asked about what one node says of its own state. */
const quorumOf: Partial<Record<At, At>> = { latest: 'agreed-latest', finalized: 'agreed' }

/** `Endpoint.delivered`. One node's word that an id is completed under another nonce is asked of the others first. Throws as `isCompleted`, NODES_DISAGREE. */
export function createDelivered(chain: ContractReader, open: OpenTransfer) {
  return async function delivered(transfer: Transfer, at: At): Promise<boolean> {
    const { message, route } = open(transfer)
    const nonceAt = (state: At) => readInboundNonce(chain, route.targetBridge, message.id, state)
    const first = await nonceAt(at)
    const quorum = quorumOf[at]
    const isDoubtful = first !== 0n && first !== message.nonce && quorum
    return isCompleted(chain.name, message, isDoubtful ? await nonceAt(quorum) : first)
  }
}

/** 0: not completed. Throws NATIVE_NONCE_MISMATCH, which halts the route: the id includes the nonce, so that no honest contract completes it under another. */
export function isCompleted(chain: string, { id, nonce }: Pick<NativeTransfer, 'id' | 'nonce'>, completedUnder: bigint): boolean {
  if (completedUnder === 0n || completedUnder === nonce) return completedUnder !== 0n
  const facts = { chain, id, nonce: String(nonce), completedUnder: String(completedUnder) }
  throw new RelayerError('NATIVE_NONCE_MISMATCH', { facts })
}

/** Does this receipt of ours show the completion of this transfer? */
export function hasCompletion({ status, block, hash: transactionHash, logs }: Receipt, { message, route }: Open): boolean {
  const wanted = completionLog(route.targetBridge, message)
  return status === 'success' && logs.some((log) => isLogOf(wanted)(log) && wanted.shows({ ...log, block, transactionHash }))
}
