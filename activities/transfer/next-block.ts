import type { Chain } from '../../chains/port.ts'

/** Resolves true with the next block, and false if none comes within `mostMs`. */
export function nextBlock({ heads }: Pick<Chain, 'heads'>, mostMs: number): Promise<boolean> {
  const before = heads.current?.latest.hash
  return new Promise((resolve) => {
    const finish = (came: boolean) => {
      clearTimeout(timer)
      unsubscribe()
      resolve(came)
    }
    const timer = setTimeout(() => finish(false), mostMs)
    const unsubscribe = heads.subscribe(({ latest }) => {
      if (latest.hash !== before) finish(true)
    })
  })
}
