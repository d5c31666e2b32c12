/** A kind of cause. */
export type CauseRow = {
  /** What it means, for every cause of this kind. */
  readonly means: string
  /** What Portage does meanwhile. */
  readonly does: string
  /** What a person does, beside the commands. */
  readonly advice?: string
  /** Commands with the names of `CauseValues` (domain/catalogue/cause.ts) in `<…>`. */
  readonly next: readonly string[]
  /** It is told, and nothing stands for it: `portage stuck` ends with 0 where there is nothing else. */
  readonly isNote?: true
}

/** @param next commands, the one to type first at the beginning */
export function row(means: string, does: string, next: readonly string[], advice?: string): CauseRow {
  return { means, does, next, ...(advice !== undefined && { advice }) }
}

/** What Portage does in several cases. */
export const goesElsewhere = 'Transfers without a nonce go to the other lanes of the chain that take work; else they wait.'
export const keeps = 'It keeps what waits, and goes on within seconds when it is over.'
export const looksAgain = 'The transfers wait without a nonce, look again by themselves, and are woken where Portage sees the change.'
