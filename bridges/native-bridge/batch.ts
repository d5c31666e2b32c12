import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { SharedCalls } from '../port.ts'
import { encodeCompletion } from './completion-call.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { completionArguments, type NativeTransfer } from './message.ts'
import type { OpenTransfer } from './open.ts'

/** completeBridgeTransfer: the call that delivers one transfer. */
export function completionIntent(targetBridge: string, transfer: NativeTransfer): Intent {
  return { to: targetBridge.toLowerCase(), data: encodeCompletion(completionArguments(transfer)), value: '0' }
}

/** batchCompleteBridgeTransfer: all, in this order, or none. Throws INPUT_INVALID for no transfer, or for one that is there twice (the second would undo all). */
export function batchIntent(targetBridge: string, transfers: readonly NativeTransfer[]): Intent {
  const ids = new Set(transfers.map(({ id }) => id))
  if (transfers.length === 0) throw new RelayerError('INPUT_INVALID', { detail: 'A batch needs a transfer.' })
  if (ids.size < transfers.length) throw new RelayerError('INPUT_INVALID', { detail: 'A transfer is in the batch twice.' })
  const rows = transfers.map(completionArguments)
  const columns = ([0, 1, 2, 3, 4] as const).map((column) => rows.map((row) => row[column]))
  const data = nativeBridgeAbi.encodeFunctionData('batchCompleteBridgeTransfer', columns)
  return { to: targetBridge.toLowerCase(), data, value: '0' }
}

/** Batches by target contract. */
export function createSharedCalls(open: OpenTransfer, largest: number): SharedCalls {
  return {
    largest,
    groupOf(transfer) {
      const { targetBridge: key, batch: most } = open(transfer).route
      return most === undefined ? undefined : { key, most }
    },
    async intent(transfers) {
      const opened = transfers.map(open)
      const messages = opened.map(({ message }) => message)
      return batchIntent(opened[0]?.route.targetBridge ?? '', messages)
    },
    fitting(transfers) {
      const entrants = transfers.map((transfer) => ({ ...open(transfer).message, route: open(transfer).route, transfer }))
      return entrants[0]?.route.inbound.fitting(entrants).map(({ transfer }) => transfer) ?? []
    },
  }
}
