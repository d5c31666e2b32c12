/** The rule for final blocks. `tag`: the node names them. `depth`: blocks with `blocks` newer blocks are final. */
export type FinalityPolicy = { readonly kind: 'tag' } | { readonly kind: 'depth'; readonly blocks: number } | { readonly kind: 'instant' }

export function finalizedHeight(policy: FinalityPolicy, latest: number, tagged: number | undefined): number {
  if (policy.kind === 'instant') return latest
  if (policy.kind === 'depth') return Math.max(0, latest - policy.blocks)
  return tagged ?? 0
}
