import { boundedMap } from '../../../../runtime/bounded-map.ts'
import type { SignedDeps } from '../deps.ts'
import type { Recorder } from '../recorder.ts'
import { isIgnorable } from './fetch-messages.ts'

/** Numbers that need no transfer, and how long they are remembered, ms. */
const [mostKnown, knownMs] = [10_000, 600_000] as const
/** Most messages that are verified at once. Others become gaps, which the audits fill. */
const mostAtOnce = 64

/** Records signed messages without a transfer. Each number is verified once: it is costly, and easy to repeat. */
export function createIgnoredMessages(
  deps: Pick<SignedDeps, 'source' | 'bridge'> & { readonly streamClient: Pick<SignedDeps['streamClient'], 'view'> },
  recorder: Pick<Recorder, 'add' | 'has'>,
): (number: string, vaa: Uint8Array) => Promise<void> {
  const known = boundedMap<string, true>(mostKnown, knownMs)
  const running = new Set<string>()

  function isSettled(number: string): boolean {
    const { completedNumber } = deps.streamClient.view ?? {}
    const isBelow = completedNumber !== undefined && BigInt(number) <= BigInt(completedNumber)
    return isBelow || known.has(number) || recorder.has(number)
  }

  return async (number, vaa) => {
    if (isSettled(number) || running.has(number) || running.size >= mostAtOnce) return
    running.add(number)
    try {
      if (!(await isIgnorable(deps, vaa))) return
      known.set(number, true)
      recorder.add(number, 'ignored')
    } finally {
      running.delete(number)
    }
  }
}
