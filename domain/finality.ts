export interface BlockRef {
  readonly height: number
  readonly hash: string
}

/** `tag`: a node names the newest final block. `depth`: a block with `blocks` newer blocks is final. */
export type FinalityPolicy = { readonly kind: 'tag' } | { readonly kind: 'depth'; readonly blocks: number } | { readonly kind: 'instant' }

/** @param tagged height of the block that the node names as final. Undefined if the node has named no block yet */
export function finalizedHeight(policy: FinalityPolicy, latest: number, tagged: number | undefined): number {
  if (policy.kind === 'instant') return latest
  if (policy.kind === 'depth') return Math.max(0, latest - policy.blocks)
  return tagged ?? 0
}
