import { concat, dataSlice, encodeBase64, getBytes, hexlify, solidityPackedKeccak256, toBeHex, zeroPadValue } from 'ethers'
import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { TransferContent } from '../../domain/transfer/content.ts'
import { mip61Bridge, type ChainName, type Transfer } from '../../domain/transfer/transfer.ts'
import type { Bridge } from '../port.ts'

export const nativeBridge = mip61Bridge

/** Hex is lower case with 0x. */
export interface NativeTransfer {
  /** keccak256(initiator ‖ recipient ‖ amount ‖ nonce). Contains no chain, so it is unique only within a route. */
  readonly id: string
  readonly initiator: string
  /** 32 bytes. On EVM, the last 20 are the address. */
  readonly recipient: string
  /** In the token's smallest unit. Above 0. */
  readonly amount: bigint
  /** Counted from 1 for each direction, up to 2^64 - 1. */
  readonly nonce: bigint
}

export interface NativeMessage extends NativeTransfer {
  readonly sourceNetworkId: bigint
  readonly sourceBridge: string
}

/** Contracts are lower-case 0x addresses. */
export interface NativeRoute {
  readonly sourceChain: ChainName
  readonly sourceNetworkId: string
  readonly sourceBridge: string
  readonly targetChain: ChainName
  readonly targetBridge: string
}

export type CompletionArguments = readonly [id: string, initiator: string, recipient: string, amount: bigint, nonce: bigint]

/** The five groups of `form`, lower case. Undefined for a text of another form. */
export function argumentsIn(text: string, form: RegExp): CompletionArguments | undefined {
  const match = form.exec(text.toLowerCase())
  if (!match) return undefined
  const [, id, from, to, amount, nonce] = match
  return [`0x${id}`, `0x${from}`, `0x${to}`, BigInt(`0x${amount}`), BigInt(`0x${nonce}`)]
}

const wordBytes = 32
const words = 7
export const mostU64 = 2n ** 64n - 1n

const mostHashed = 8_192
const packedTypes = ['address', 'bytes32', 'uint256', 'uint256']
const hashed = new LRUCache<string, string>({
  max: mostHashed,
  memoMethod: (fields) => solidityPackedKeccak256(packedTypes, fields.split(' ')),
})

export function idOf({ initiator, recipient, amount, nonce }: Omit<NativeTransfer, 'id'>): string {
  return hashed.memo(`${initiator} ${recipient} ${amount} ${nonce}`)
}

/** Layout: abi.encode(id, initiator, recipient, amount, nonce, uint64 sourceNetworkId, address sourceBridge). */
export function writeMessage(message: NativeMessage): Uint8Array {
  const { id, initiator, recipient, amount, nonce, sourceNetworkId, sourceBridge } = message
  const numbers = [amount, nonce, sourceNetworkId].map((value) => toBeHex(value, wordBytes))
  return getBytes(concat([id, zeroPadValue(initiator, wordBytes), recipient, ...numbers, zeroPadValue(sourceBridge, wordBytes)]))
}

export function contentOf({ amount, recipient, sourceNetworkId, sourceBridge }: NativeMessage): TransferContent {
  const token = `${sourceNetworkId}/${sourceBridge.slice(2).padStart(64, '0')}`
  return { amount: String(amount), token, recipient: `0x${recipient.slice(26)}` }
}

/** Decodes a message without ethers, which would truncate numbers. Throws NATIVE_MESSAGE, NATIVE_ID_MISMATCH. */
export function readMessage(bytes: Uint8Array): NativeMessage {
  const expected = words * wordBytes
  if (bytes.length !== expected) throw malformed(`It has ${bytes.length} bytes, not ${expected}.`)
  const word = (place: number) => hexlify(bytes.subarray(place * wordBytes, (place + 1) * wordBytes))
  return checkId({
    id: word(0),
    initiator: addressIn(word(1), 'initiator'),
    recipient: word(2),
    amount: positive(word(3), 'amount'),
    nonce: positive(word(4), 'nonce', mostU64),
    sourceNetworkId: positive(word(5), 'source network id', mostU64),
    sourceBridge: addressIn(word(6), 'source bridge'),
  })
}

/** Throws NATIVE_ID_MISMATCH if the id is not the hash of the other fields. */
export function checkId<T extends NativeTransfer>(transfer: T): T {
  const { id, nonce } = transfer
  const computed = idOf(transfer)
  if (computed !== id) throw new RelayerError('NATIVE_ID_MISMATCH', { facts: { nonce: String(nonce), id, computed } })
  return transfer
}

/**
 * The target takes a recipient of 20 bytes. The other 12 bytes are appended to the initiator, so that the hash of the
 * arguments is still the id.
 */
export function completionArguments({ id, initiator, recipient, amount, nonce }: NativeTransfer): CompletionArguments {
  return [id, concat([initiator, dataSlice(recipient, 0, 12)]), dataSlice(recipient, 12), amount, nonce]
}

export function transferOfCompletion([id, initiator, recipient, amount, nonce]: CompletionArguments): NativeTransfer {
  const sender = dataSlice(initiator, 0, 20)
  return { id, initiator: sender, recipient: concat([dataSlice(initiator, 20), recipient]), amount, nonce }
}

export function toTransfer(route: NativeRoute, transfer: NativeTransfer): Transfer {
  const { sourceChain, targetChain, sourceNetworkId, sourceBridge } = route
  return {
    bridge: nativeBridge,
    sourceChain,
    sourceId: sourceNetworkId,
    targetChain,
    emitter: sourceBridge.slice(2).padStart(64, '0'),
    sequence: String(transfer.nonce),
    digest: transfer.id,
    message: encodeBase64(writeMessage({ ...transfer, sourceNetworkId: BigInt(sourceNetworkId), sourceBridge })),
  }
}

export type Routes<Route extends NativeRoute> = ReturnType<typeof createRoutes<Route>>

/** Throws CONFIG_INVALID if routes share a contract: their transfers could have equal ids, which contain no chain. */
export function createRoutes<Route extends NativeRoute>(routes: readonly Route[]) {
  const all = routes.map((route) => ({
    ...route,
    sourceBridge: route.sourceBridge.toLowerCase(),
    targetBridge: route.targetBridge.toLowerCase(),
  }))
  const bySource = unique(all, ({ sourceNetworkId, sourceBridge }) => `${sourceNetworkId}/${sourceBridge}`, 'start')
  unique(all, ({ targetChain, targetBridge }) => `${targetChain}/${targetBridge}`, 'end')
  return {
    all,
    /** Throws NATIVE_ROUTE_UNKNOWN. */
    of({ sourceNetworkId, sourceBridge }: Pick<NativeMessage, 'sourceNetworkId' | 'sourceBridge'>): Route {
      const route = bySource.get(`${sourceNetworkId}/${sourceBridge}`)
      if (route) return route
      throw new RelayerError('NATIVE_ROUTE_UNKNOWN', { facts: { sourceNetworkId: String(sourceNetworkId), sourceBridge } })
    },
  }
}

function unique<Route extends NativeRoute>(routes: readonly Route[], key: (route: Route) => string, where: string) {
  const found = new Map(routes.map((route) => [key(route), route]))
  const other = routes.find((route) => found.get(key(route)) !== route)
  if (other) throw new RelayerError('CONFIG_INVALID', { detail: `Two routes of the native bridge ${where} at ${key(other)}.` })
  return found
}

export function createDecode(all: readonly NativeRoute[]): Bridge['decode'] {
  const routes = createRoutes(all)
  return (bytes) => {
    const message = readMessage(bytes)
    return toTransfer(routes.of(message), message)
  }
}

function addressIn(word: string, name: string): string {
  if (!word.startsWith(`0x${'0'.repeat(24)}`)) throw malformed(`The ${name} is longer than 20 bytes.`)
  return `0x${word.slice(26)}`
}

function positive(word: string, name: string, most?: bigint): bigint {
  const value = BigInt(word)
  if (value === 0n) throw malformed(`The ${name} is 0.`)
  if (most !== undefined && value > most) throw malformed(`The ${name} ${value} is above 2^64 - 1.`)
  return value
}

function malformed(detail: string): RelayerError {
  return new RelayerError('NATIVE_MESSAGE', { detail })
}
