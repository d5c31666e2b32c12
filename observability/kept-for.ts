/** Asks once for all who want to know meanwhile, and for those who come within `ms` of the answer. */
export function keptFor<Answer>(ms: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: Promise<Answer> | undefined
  const forget = () => (asked = undefined)
  return () => (asked ??= ask().finally(() => setTimeout(forget, ms).unref()))
}
