import { decodeBase64 } from 'ethers'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { BlockRange, ScannedSource } from '../source-port.ts'
import type { VerifiedMessages } from '../kit/verified-messages.ts'
import type { LogReader } from '../kit/logs.ts'
import { type NativeRoute, type NativeTransfer, nativeBridge, toTransfer } from './message.ts'
import { completedIn, initiatedIn, isCompleted } from './events.ts'
import { agreedHighestNonce, completedByMost, recordedByAny, recordedUnder } from './source.ts'

export interface NativeSourceOptions {
  readonly route: NativeRoute
  readonly source: LogReader & { readonly networkId: string }
  readonly target: LogReader
  readonly startBlock: number
  readonly maxOpen: number
  readonly verified: Pick<VerifiedMessages, 'add'>
}

/** Names or network ids. Replacing a contract keeps the stream: two chains have one bridge. */
export function streamOf(source: string, target: string): string {
  return `${nativeBridge}:${source}:${target}`
}

/** A numbered source from MIP-61's events and tables: its listeners, bootstrap reads and audit reads. */
export function createNativeSource({ route, source, target, startBlock, maxOpen, verified }: NativeSourceOptions): ScannedSource {
  const { sourceChain, sourceBridge, targetChain, targetBridge } = route

  const known = (transfer: NativeTransfer | undefined) => transfer && toTransfer(route, transfer)

  /** At `agreed` the source's table confirms NATIVE_ID_MISMATCH, else it becomes NODES_DISAGREE. */
  async function checked(read: typeof initiatedIn, chain: LogReader, bridge: string, range: BlockRange, at?: 'agreed') {
    try {
      return await read(chain, bridge, range, at)
    } catch (error) {
      const { code, facts, message } = toRelayerError(error)
      if (at === undefined || code !== 'NATIVE_ID_MISMATCH') throw error
      const inTable = await recordedUnder(source, sourceBridge, [BigInt(String(facts['nonce']))], 'agreed').then(
        () => false,
        (other: unknown) => toRelayerError(other).code === code,
      )
      throw inTable ? error : new RelayerError('NODES_DISAGREE', { detail: message, cause: error })
    }
  }

  return {
    kind: 'scanned',
    config: {
      stream: streamOf(sourceChain, targetChain),
      origin: `${source.networkId}/${sourceBridge.toLowerCase()}`,
      first: '1',
      start: startBlock,
      maxOpen,
    },
    bridge: nativeBridge,
    sourceChain,
    targetChain,
    async initiated(range, at) {
      const events = await checked(initiatedIn, source, sourceBridge, range, at)
      return events.map(({ transfer, block }) => ({ transfer: toTransfer(route, transfer), height: block.height }))
    },
    async recorded(numbers, at) {
      const nonces = numbers.map(BigInt)
      if (at === 'finalized') return (await recordedByAny(source, sourceBridge, nonces)).map(known)
      const found = (await recordedUnder(source, sourceBridge, nonces, at)).map(known)
      for (const transfer of found) if (transfer) verified.add(decodeBase64(transfer.message))
      return found
    },
    async highest(from) {
      const highest = await agreedHighestNonce(source, sourceBridge, from === undefined ? 0n : BigInt(from))
      return highest === 0n ? undefined : String(highest)
    },
    async delivered(transfers) {
      const ids = transfers.map(({ digest }) => digest)
      const nonces = await completedByMost(target, targetBridge, ids)
      return transfers.map(({ digest: id, sequence }, index) =>
        isCompleted(targetChain, { id, nonce: BigInt(sequence) }, nonces[index] ?? 0n),
      )
    },
    async completed(range, at) {
      const events = await checked(completedIn, target, targetBridge, range, at)
      return events.map(({ transfer: { nonce, id }, block }) => ({ number: String(nonce), digest: id, height: block.height }))
    },
    contradiction({ number, digest, height }, recorded) {
      const detail = `The target completed ${digest} under this number, in block ${height}.`
      return new RelayerError('NATIVE_TABLE_MISMATCH', { detail, facts: { nonce: number, recorded } })
    },
  }
}
