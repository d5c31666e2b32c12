/** Lets at most `most` calls run at the same time. Further calls wait, and run in the order in which they came. */
export function createTurns(most: number) {
  const queue: (() => void)[] = []
  let active = 0
  return {
    /** Number of calls that run or wait. */
    get count(): number {
      return queue.length + active
    },
    async take<T>(work: () => Promise<T>): Promise<T> {
      if (active >= most) await new Promise<void>((resolve) => queue.push(resolve))
      else active++
      try {
        return await work()
      } finally {
        const next = queue.shift()
        if (next) next()
        else active--
      }
    },
  }
}
