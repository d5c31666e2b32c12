/** Reasons of failed calls that are not the text of a revert: they have words of nodes, or the nonce of a lane. */
export const failedCall = {
  refused: (text: string) => `every node refused the call: ${text}`,
  refusedByFew: (text: string) => `too few nodes answered, and refused the call: ${text}`,
  spent: (nonce: number, by: string) => `nonce ${nonce} was used by a ${by} transaction`,
  withdrawn: (nonce: number) => `nonce ${nonce} was used without the effect`,
  disputed: (text: string) => `${text} (the nodes do not agree on that)`,
} as const

const refusals = [failedCall.refused(''), failedCall.refusedByFew('')]

/** Whether the reason is one of `failedCall`. True also for a revert whose text imitates one. */
export function isFailedCall(reason: string): boolean {
  return refusals.some((text) => reason.startsWith(text)) || /^nonce \d+ was used /.test(reason) || reason.endsWith(failedCall.disputed(''))
}
