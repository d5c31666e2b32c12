/**
 * Like `Promise.all`, but runs at most `most` calls at a time. Rejects after a failure, once the running calls have
 * ended.
 */
export async function mapLimited<T, R>(items: readonly T[], most: number, run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  // All workers share one generator. An error in one worker closes it, so that the others end. An array's iterator
  // would continue.
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
