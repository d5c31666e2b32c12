/** `most`: calls in parallel. Results keep their order. After a failure it awaits the open calls, then rejects. */
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
  await Promise.all(workers).finally(() => Promise.allSettled(workers))
  return results
}
