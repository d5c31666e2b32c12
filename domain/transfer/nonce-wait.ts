import type { LaneId } from '../lane/lane-id.ts'

/** Why an ending transfer goes on. @param nonces may still be mined; without a number: all that the lane granted */
export function waitsForNonces(what: string, nonces: readonly { readonly lane: LaneId; readonly nonce?: number }[]): string {
  const held = nonces.map(({ lane, nonce }) =>
    nonce === undefined ? `the earlier grants of ${lane}, whose ledger began anew` : `nonce ${nonce} of ${lane}`,
  )
  return `${what} once nothing of it can be mined: waits for ${held.join(', ')} to be final`
}
