/** Runs at most so many at a time; ends when all have ended. */
export async function forEachLimited<T>(items: readonly T[], most: number, run: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
}
