/** Like `Promise.all`, with at most `most` running calls. After a failure, waits for running calls, then rejects. */
export async function mapLimited<T, R>(items: readonly T[], most: number, run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  // An error in one worker closes the shared generator, which ends the other workers. An array's iterator would
  // continue.
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
