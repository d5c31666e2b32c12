/** A kind of cause. */
export type CauseRow = {
  /** What it means, for every cause of this kind. */
  readonly means: string
  /** What Portage does meanwhile. */
  readonly does: string
  /** What a person does, beside the commands. */
  readonly advice?: string
  /** Commands with the names of `CauseValues` (domain/cause.ts) in `<…>`. */
  readonly next: readonly string[]
  /** It is told, and nothing stands for it: `portage stuck` ends with 0 where there is nothing else. */
  readonly isNote?: true
}

/** @param next commands, the one to type first at the beginning */
export function row(means: string, does: string, next: readonly string[], advice?: string): CauseRow {
  return { means, does, next, ...(advice !== undefined && { advice }) }
}
