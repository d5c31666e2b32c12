import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The part of a guardian's REST API that a relayer needs: GET /v1/signed_vaa/{chain}/{emitter}/{sequence}. */
export interface GuardianApi {
  readonly url: string
  stop(): Promise<void>
}

/** @param find the signed VAA by chain, emitter (64 lower-case hex digits) and sequence (decimal), or undefined */
export async function startGuardianApi(
  find: (chain: number, emitter: string, sequence: string) => Uint8Array | undefined,
  port = 0,
): Promise<GuardianApi> {
  const server = createServer((request, response) => {
    const { code, body } = answer(request.method ?? '', new URL(request.url ?? '/', 'http://guardian').pathname, find)
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Codes are gRPC's, as the guardian's gateway gives them: 3 invalid argument, 5 not found. */
function answer(method: string, path: string, find: Parameters<typeof startGuardianApi>[0]): { code: number; body: unknown } {
  const parts = /^\/v1\/signed_vaa\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path)
  if (method !== 'GET' || !parts) return { code: 404, body: { code: 5, message: 'Not Found', details: [] } }
  const [, chain = '', emitter = '', sequence = ''] = parts
  if (!/^\d{1,5}$/.test(chain)) return invalid(`type mismatch, parameter: message_id.emitter_chain, error: ${chain} is not valid`)
  if (!/^[0-9a-fA-F]{64}$/.test(emitter)) return invalid('address must be 32 bytes')
  if (!/^\d{1,20}$/.test(sequence)) return invalid(`type mismatch, parameter: message_id.sequence, error: ${sequence} is not valid`)
  const vaa = find(Number(chain), emitter.toLowerCase(), String(BigInt(sequence)))
  if (!vaa) return { code: 404, body: { code: 5, message: 'requested VAA not found in store', details: [] } }
  return { code: 200, body: { vaaBytes: Buffer.from(vaa).toString('base64') } }
}

function invalid(message: string): { code: number; body: unknown } {
  return { code: 400, body: { code: 3, message, details: [] } }
}
