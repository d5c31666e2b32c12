/** At most `most` calls run at a time. Results keep their order. A failure rejects once the open calls have ended. */
export async function mapLimited<T, R>(items: readonly T[], most: number, run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  // Unlike an array's iterator, a generator ends for all workers when one of them throws.
  const waiting = (function* () {
    yield* items.entries()
  })()
  const worker = async () => {
    for (const [index, item] of waiting) results[index] = await run(item)
  }
  const workers = Array.from({ length: Math.min(most, items.length) }, worker)
  try {
    await Promise.all(workers)
  } finally {
    await Promise.allSettled(workers)
  }
  return results
}
