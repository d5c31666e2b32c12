/** Does nothing: what Temporal itself costs. */
export async function empty(): Promise<void> {}
