import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/intent.ts'
import type { SharedCalls } from '../port.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { type CompletionArguments, completionArguments, type NativeTransfer } from './message.ts'
import type { DecodeTransfer } from './decoded.ts'

const selector = nativeBridgeAbi.getFunction('completeBridgeTransfer')?.selector ?? ''
const words = 5

/** ethers takes a hundred times as long, several times per delivery. */
export function encodeCompletion([id, initiator, recipient, amount, nonce]: CompletionArguments): string {
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  return `${selector}${id.slice(2)}${initiator.slice(2)}${recipient.slice(2).padStart(64, '0')}${word(amount)}${word(nonce)}`.toLowerCase()
}

/** Lower case. Undefined unless the data is byte for byte what `encodeCompletion` makes. */
export function decodeCompletion(data: string): CompletionArguments | undefined {
  const text = data.toLowerCase()
  if (!text.startsWith(selector) || text.length !== selector.length + words * 64 || !/^0x[0-9a-f]*$/.test(text)) return undefined
  const word = (place: number) => text.slice(selector.length + place * 64, selector.length + (place + 1) * 64)
  const recipient = word(2)
  if (!recipient.startsWith('0'.repeat(24))) return undefined
  return [`0x${word(0)}`, `0x${word(1)}`, `0x${recipient.slice(24)}`, BigInt(`0x${word(3)}`), BigInt(`0x${word(4)}`)]
}

export function completionIntent(targetBridge: string, transfer: NativeTransfer): Intent {
  return { to: targetBridge.toLowerCase(), data: encodeCompletion(completionArguments(transfer)), value: '0' }
}

/** Delivers all or none. Throws INPUT_INVALID for no transfer, or a repeated one (it would undo all). */
export function batchIntent(targetBridge: string, transfers: readonly NativeTransfer[]): Intent {
  const ids = new Set(transfers.map(({ id }) => id))
  if (transfers.length === 0) throw new RelayerError('INPUT_INVALID', { detail: 'A batch needs a transfer.' })
  if (ids.size < transfers.length) throw new RelayerError('INPUT_INVALID', { detail: 'A transfer is in the batch twice.' })
  const rows = transfers.map(completionArguments)
  const columns = ([0, 1, 2, 3, 4] as const).map((column) => rows.map((row) => row[column]))
  const data = nativeBridgeAbi.encodeFunctionData('batchCompleteBridgeTransfer', columns)
  return { to: targetBridge.toLowerCase(), data, value: '0' }
}

export function createSharedCalls(decode: DecodeTransfer, largest: number): SharedCalls {
  return {
    largest,
    groupOf(transfer) {
      const { targetBridge: key, batch: most } = decode(transfer).route
      return most === undefined ? undefined : { key, most }
    },
    async intent(transfers) {
      const decoded = transfers.map(decode)
      const messages = decoded.map(({ message }) => message)
      return batchIntent(decoded[0]?.route.targetBridge ?? '', messages)
    },
    fitting(transfers) {
      const entrants = transfers.map((transfer) => ({ ...decode(transfer).message, transfer }))
      const [first] = transfers
      return first
        ? decode(first)
            .route.inbound.fitting(entrants)
            .map(({ transfer }) => transfer)
        : []
    },
  }
}
