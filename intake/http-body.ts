/**
 * The text of an answer; undefined: it is longer than that, and was not read to its end, whatever its headers say. Throws what reading throws.
 * @param mostBytes of its UTF-8
 */
export async function readAtMost(response: Response, mostBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop ends the connection.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > mostBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
