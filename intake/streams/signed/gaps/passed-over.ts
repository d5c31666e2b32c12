import { createRecent } from '../../../submit/recent.ts'
import type { SignedDeps } from '../deps.ts'
import { isIgnorable } from './fetch-missing.ts'
import type { Recorder } from '../recorder.ts'

/** Numbers that are known to need nothing, and for how long they are remembered, ms. */
const [mostKnown, knownMs] = [10_000, 600_000] as const
/** Messages that are looked at, at a time; others become gaps, which the audits fill. */
const mostAtOnce = 64

/**
 * Messages of a spy that go to no chain of ours, or are no transfers: their numbers are recorded as ignored, if the guardians signed them. What costs is to
 * recover the signatures, and anybody can repeat such messages, with others of the guardians' signatures each time: each number is looked at once.
 */
export function createPassedOver(
  deps: Pick<SignedDeps, 'source' | 'bridge'> & { readonly streamClient: Pick<SignedDeps['streamClient'], 'view'> },
  recorder: Pick<Recorder, 'add' | 'has'>,
): (number: string, vaa: Uint8Array) => Promise<void> {
  const known = createRecent(mostKnown, knownMs)
  const looked = new Set<string>()

  function isSettled(number: string): boolean {
    const { completedNumber } = deps.streamClient.view ?? {}
    const isBelow = completedNumber !== undefined && BigInt(number) <= BigInt(completedNumber)
    return isBelow || known.has(number) || recorder.has(number)
  }

  return async (number, vaa) => {
    if (isSettled(number) || looked.has(number) || looked.size >= mostAtOnce) return
    looked.add(number)
    try {
      if (!(await isIgnorable(deps, vaa))) return
      known.add(number)
      recorder.add(number, 'ignored')
    } finally {
      looked.delete(number)
    }
  }
}
