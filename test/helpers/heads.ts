import type { Chain, HeadEvent } from '../../chains/port.ts'

/** Resolves with the first head event that satisfies the condition. The current event counts too. */
export function head(chain: Chain, wanted: (event: HeadEvent) => boolean): Promise<HeadEvent> {
  const { current } = chain.heads
  if (current && wanted(current)) return Promise.resolve(current)
  return new Promise((resolve) => {
    const end = chain.heads.subscribe((event) => {
      if (!wanted(event)) return
      end()
      resolve(event)
    })
  })
}
