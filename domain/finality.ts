/** When a block is final. `tag`: the node says so. `depth`: `blocks` lower than the latest. docs/operate/chains.md */
export type FinalityPolicy = { readonly kind: 'tag' } | { readonly kind: 'depth'; readonly blocks: number } | { readonly kind: 'instant' }

/** The highest final height. @param tagged height of the node's `finalized` tag, if it has one */
export function finalizedHeight(policy: FinalityPolicy, latest: number, tagged: number | undefined): number {
  if (policy.kind === 'instant') return latest
  if (policy.kind === 'depth') return Math.max(0, latest - policy.blocks)
  return tagged ?? 0
}
