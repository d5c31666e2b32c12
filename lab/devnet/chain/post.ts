import { Agent, request } from 'node:http'

/** Connections that wait for the next request do not keep the process alive. */
const agent = new Agent({ keepAlive: true })

/**
 * Posts JSON to a server of the devnet and resolves with the JSON that it answers, whatever the status. With `fetch` a request costs five times the CPU time, and
 * a devnet makes hundreds in a second. Throws what the connection, or an answer that is no JSON, throws.
 */
export async function postJson(url: string, body: unknown): Promise<unknown> {
  const text = JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  const answer = await new Promise<string>((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.once('end', () => resolve(Buffer.concat(chunks).toString()))
      incoming.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(text)
  })
  return JSON.parse(answer) as unknown
}
