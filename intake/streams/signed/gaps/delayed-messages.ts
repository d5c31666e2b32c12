import type { Bridge } from '../../../../bridges/port.ts'
import type { RelayerError } from '../../../../domain/catalogue/errors.ts'
import { gapAt } from '../../../../domain/stream/gaps.ts'
import type { Gap, RequestOf } from '../../../../domain/stream/stream.ts'
import type { ChainName } from '../../../../domain/transfer/transfer.ts'
import { boundedMap } from '../../../../runtime/bounded-map.ts'

/** Why a message that this process has cannot be started as a transfer. */
export interface BlockedTransfer {
  readonly code: string
  readonly chain?: ChainName
}

export function blockedBy({ code, facts }: RelayerError, target: ChainName): BlockedTransfer {
  return { code, chain: typeof facts['chain'] === 'string' ? facts['chain'] : target }
}

const mostDelayed = 10_000
/** Shortest time between two calls of `onNew`, ms: many messages come at once. */
const newEveryMs = 5_000

/** Messages of the spy that could not be submitted yet, by number. `onNew`: one more, or another reason. */
export function createDelayedMessages(bridge: Pick<Bridge, 'decode'>, onNew: () => void) {
  const blocked = boundedMap<string, BlockedTransfer>(mostDelayed)
  let calledAt = -Infinity
  return {
    of: (number: string): BlockedTransfer | undefined => blocked.get(number),
    add(number: string, vaa: Uint8Array, error: RelayerError): void {
      if (blocked.get(number)?.code === error.code) return
      blocked.set(number, blockedBy(error, targetOf(bridge, vaa)))
      const now = performance.now()
      if (now - calledAt < newEveryMs) return
      calledAt = now
      onNew()
    },
    delete: (number: string) => void blocked.delete(number),
  }
}

/** Empty for an unreadable message, which is refused and waits for nothing. */
function targetOf(bridge: Pick<Bridge, 'decode'>, vaa: Uint8Array): ChainName {
  try {
    return bridge.decode(vaa).targetChain
  } catch {
    return ''
  }
}

/** Requests that name the reasons, without those that the gaps have. */
export function unstartedRequests(blocked: ReadonlyMap<string, BlockedTransfer>, gaps: readonly Gap[]): readonly RequestOf<'classified'>[] {
  return [...blocked].flatMap(([number, { code, chain }]): RequestOf<'classified'>[] => {
    const gap = gapAt(gaps, BigInt(number))
    if (!gap || (gap.state === 'unstarted' && gap.code === code && gap.chain === (chain || undefined))) return []
    return [{ kind: 'classified', from: number, to: number, state: 'unstarted', code, ...(chain && { chain }) }]
  })
}
