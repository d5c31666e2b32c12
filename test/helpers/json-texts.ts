export function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}

/** Decodes a base64 text, the form in which Temporal shows raw payloads. Returns other texts unchanged. */
export function decoded(text: string): string {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64').toString() : text
}
