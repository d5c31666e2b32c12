import type { RelayerError } from '../../../../domain/catalogue/errors.ts'
import type { Gap, RequestOf } from '../../../../domain/stream/stream.ts'
import type { ChainName } from '../../../../domain/transfer/transfer.ts'
import type { Bridge } from '../../../../bridges/port.ts'

/** Why a message that this process has cannot be started as a transfer. */
export interface BlockedTransfer {
  readonly code: string
  /** The chain that is in the way. */
  readonly chain?: ChainName
}

/** @param target of the message */
export function blockedBy({ code, facts }: RelayerError, target: ChainName): BlockedTransfer {
  return { code, chain: typeof facts['chain'] === 'string' ? facts['chain'] : target }
}

/** Most numbers whose messages wait that are kept: the oldest gives way. */
const mostDelayed = 10_000

/** `onNew` is called at most so often, ms: many come at once. */
const newEveryMs = 5_000

/** What the spy told and could not be submitted yet, by number. @param onNew there is one more, or for another reason */
export function createDelayedMessages(bridge: Pick<Bridge, 'decode'>, onNew: () => void) {
  const blocked = new Map<string, BlockedTransfer>()
  let toldAt = -Infinity
  return {
    of: (number: string): BlockedTransfer | undefined => blocked.get(number),
    add(number: string, vaa: Uint8Array, error: RelayerError): void {
      if (blocked.get(number)?.code === error.code) return
      blocked.set(number, blockedBy(error, targetOf(bridge, vaa)))
      for (const oldest of blocked.keys()) {
        if (blocked.size <= mostDelayed) break
        blocked.delete(oldest)
      }
      const now = performance.now()
      if (now - toldAt < newEveryMs) return
      toldAt = now
      onNew()
    },
    delete: (number: string) => void blocked.delete(number),
  }
}

/** Throws nothing: one that cannot be read is refused, and waits for nothing. */
function targetOf(bridge: Pick<Bridge, 'decode'>, vaa: Uint8Array): ChainName {
  try {
    return bridge.decode(vaa).targetChain
  } catch {
    return ''
  }
}

/** The reasons as requests, without those that the gaps have already. */
export function unstartedRequests(blocked: ReadonlyMap<string, BlockedTransfer>, gaps: readonly Gap[]): readonly RequestOf<'classified'>[] {
  return [...blocked].flatMap(([number, { code, chain }]): RequestOf<'classified'>[] => {
    const at = BigInt(number)
    const gap = gaps.find(({ from, to }) => BigInt(from) <= at && at <= BigInt(to))
    if (!gap || (gap.state === 'unstarted' && gap.code === code && gap.chain === (chain || undefined))) return []
    return [{ kind: 'classified', from: number, to: number, state: 'unstarted', code, ...(chain && { chain }) }]
  })
}
