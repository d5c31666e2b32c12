/** Like `Promise.all`, with at most `most` calls at a time. A failure rejects when the running calls have ended. */
export async function mapLimited<T, R>(items: readonly T[], most: number, run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  // The workers share a generator, because an error in one worker closes it for all. An array's iterator would go on.
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
