/** A text field of a signal that was typed by hand: it may hold anything, or nothing, and must never fail the task, and so the workflow. */
export function textOr(typed: unknown, otherwise: string): string {
  if (typed === undefined || typed === null || typed === '') return otherwise
  return typeof typed === 'string' ? typed : JSON.stringify(typed)
}
