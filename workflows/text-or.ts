/** What somebody typed into a signal where a text belongs: anything, or nothing. It must never fail the task, and so the workflow. */
export function textOr(typed: unknown, otherwise: string): string {
  if (typed === undefined || typed === null || typed === '') return otherwise
  return typeof typed === 'string' ? typed : JSON.stringify(typed)
}
