import type { LaneId } from '../lane/lane-id.ts'

/** Why a transfer does not end yet. @param what how it is going to end @param nonces what may still be mined; without a number: whatever the lane had granted */
export function waitsForNonces(what: string, nonces: readonly { readonly lane: LaneId; readonly nonce?: number }[]): string {
  const held = nonces.map(({ lane, nonce }) =>
    nonce === undefined ? `what ${lane} had granted before its ledger began anew` : `nonce ${nonce} of ${lane}`,
  )
  return `${what} once nothing of it can be mined: waits for ${held.join(', ')} to be final`
}
