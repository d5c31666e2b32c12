import { decodeBase64 } from 'ethers'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { BlockRange, ScannedSource } from '../port.ts'
import type { VerifiedMessages } from '../kit/verified-messages.ts'
import type { LogReader, LogsAt } from '../kit/logs.ts'
import { checkId, mostU64, nativeBridge, type NativeRoute, type NativeTransfer, toTransfer } from './message.ts'
import { completedTopic, hasLogs, initiatedTopic, isCompleted, transfersIn } from './events.ts'
import type { At } from '../../chains/port.ts'
import { agreedPerTick, askMostIf, type ContractReader, type Finality, inTicks, unless } from '../kit/contract-reader.ts'
import { readInboundNonce, readOutbound } from './contracts.ts'

interface NativeSourceOptions {
  readonly route: NativeRoute
  readonly source: LogReader & { readonly networkId: string }
  readonly target: LogReader
  readonly startBlock: number
  readonly maxOpen: number
  readonly verified: Pick<VerifiedMessages, 'add'>
}

/** The id of a stream contains no contract, because there is only one native bridge between two chains. */
export function streamOf(source: string, target: string): string {
  return `${nativeBridge}:${source}:${target}`
}

export function createNativeSource({ route, source, target, startBlock, maxOpen, verified }: NativeSourceOptions): ScannedSource {
  const { sourceChain, sourceBridge, targetChain, targetBridge } = route
  const asTransfer = (transfer: NativeTransfer | undefined) => transfer && toTransfer(route, transfer)

  /** With `agreed`, NATIVE_ID_MISMATCH becomes NODES_DISAGREE unless the source's table shows the mismatch too. */
  async function checked(chain: LogReader, bridge: string, topic: string, range: BlockRange, at?: LogsAt) {
    try {
      return await transfersIn(chain, bridge, topic, range, at)
    } catch (error) {
      const { code, facts, message } = toRelayerError(error)
      if (at !== 'agreed' || code !== 'NATIVE_ID_MISMATCH') throw error
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
      ...{ first: '1', start: startBlock, maxOpen },
    },
    bridge: nativeBridge,
    sourceChain,
    targetChain,
    async initiated(range, at) {
      if (at === undefined && !(await hasLogs(source, sourceBridge, initiatedTopic, range))) return []
      const events = await checked(source, sourceBridge, initiatedTopic, range, at ?? 'majority')
      return events.map(({ transfer, block: { height }, txHash }) => ({ transfer: toTransfer(route, transfer), height, txHash }))
    },
    async recorded(numbers, at) {
      const nonces = numbers.map(BigInt)
      if (at === 'finalized') return (await recordedByAny(source, sourceBridge, nonces)).map(asTransfer)
      const found = (await recordedUnder(source, sourceBridge, nonces, at)).map(asTransfer)
      for (const transfer of found) if (transfer) verified.add(decodeBase64(transfer.message))
      return found
    },
    async highest(known) {
      // Asks one node first, because each read at `agreed` makes a chain with one node wait for a block.
      const shown = await highestNonce(source, sourceBridge, BigInt(known ?? 0))
      const highest = await highestNonce(source, sourceBridge, shown, 'agreed')
      return highest === 0n ? undefined : String(highest)
    },
    async delivered(transfers) {
      const nonceOf = ({ digest }: { readonly digest: string }, at: Finality) => readInboundNonce(target, targetBridge, digest, at)
      const nonces = await askMostIf(transfers, nonceOf, (nonce) => nonce !== 0n)
      const ids = transfers.map(({ digest: id, sequence }) => ({ id, nonce: BigInt(sequence) }))
      return ids.map((id, index) => isCompleted(targetChain, id, nonces[index] ?? 0n))
    },
    async completed(range, at) {
      const events = await checked(target, targetBridge, completedTopic, range, at)
      return events.map(({ transfer: { nonce, id }, block }) => ({ number: String(nonce), digest: id, height: block.height }))
    },
    contradiction({ number, digest, height }, recorded) {
      const detail = `The target completed ${digest} under this number, in block ${height}.`
      return new RelayerError('NATIVE_TABLE_MISMATCH', { detail, facts: { nonce: number, recorded } })
    },
  }
}

/** Reads the source's table, because nodes may hide logs. A missing entry is undefined. Throws NATIVE_ID_MISMATCH. */
export function recordedUnder(chain: ContractReader, bridge: string, nonces: readonly bigint[], at: Finality) {
  return inTicks(nonces, (nonce) => recordedAt(chain, bridge, nonce, at), at === 'agreed' ? agreedPerTick : undefined)
}

/**
 * Reads entries from one node, and asks most nodes about missing or contradictory entries. Undefined if the nodes
 * disagree.
 */
function recordedByAny(chain: ContractReader, bridge: string, nonces: readonly bigint[]) {
  const readAt = (nonce: bigint, at: Finality) => {
    const reading = recordedAt(chain, bridge, nonce, at)
    return at === 'agreed' ? reading : unless(reading, ({ haltRoute }) => haltRoute)
  }
  return askMostIf(nonces, readAt, (found) => found === undefined)
}

async function recordedAt(chain: ContractReader, bridge: string, nonce: bigint, at: At): Promise<NativeTransfer | undefined> {
  const recorded = await readOutbound(chain, bridge, nonce, at)
  return recorded && checkId(recorded)
}

/**
 * Finds the highest nonce in the table, in doubling steps and then by bisection, because the table has no holes.
 * Returns 0 for an empty table.
 */
export async function highestNonce(chain: ContractReader, bridge: string, known = 0n, at: At = 'finalized'): Promise<bigint> {
  // A lying node may show an entry for every nonce.
  const exists = async (nonce: bigint) => nonce <= mostU64 && (await readOutbound(chain, bridge, nonce, at)) !== undefined
  const [present, next] = await Promise.all([known === 0n || exists(known), exists(known + 1n)])
  if (present && !next) return known
  let low = present ? known + 1n : 0n
  let step = 1n
  while (present && (await exists(low + step))) {
    low += step
    step *= 2n
  }
  let high = present ? low + step : known
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    if (await exists(middle)) low = middle
    else high = middle
  }
  return low
}
