import { startVaaServer, type VaaAnswer, type VaaServer } from './vaa-server.ts'

/** Serves `/v1/signed_vaa/…` and `/v1/governor/is_vaa_enqueued/…`. */
export type GuardianApi = VaaServer

/** Finds a VAA by chain, emitter (64 lower-case hex digits) and sequence (decimal). */
export type FindVaa<T = Uint8Array | undefined> = (chain: number, emitter: string, sequence: string) => T

/** @param isHeld whether the Governor has queued the message */
export function startGuardianApi(find: FindVaa, port = 0, isHeld: FindVaa<boolean> = () => false): Promise<GuardianApi> {
  return startVaaServer((method, path) => guardianAnswer(method, path, find, isHeld), port)
}

/** The answer of a guardian's API. The gateway passes on gRPC codes: 3 invalid argument, 5 not found. */
export function guardianAnswer(method: string, path: string, find: FindVaa, isHeld: FindVaa<boolean>): VaaAnswer {
  const parts = /^\/v1\/(signed_vaa|governor\/is_vaa_enqueued)\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path)
  if (method !== 'GET' || !parts) return { code: 404, body: { code: 5, message: 'Not Found', details: [] } }
  const [, what, chain = '', emitter = '', sequence = ''] = parts
  if (!/^\d{1,5}$/.test(chain)) return invalid(`type mismatch, parameter: message_id.emitter_chain, error: ${chain} is not valid`)
  if (!/^[0-9a-fA-F]{64}$/.test(emitter)) return invalid('address must be 32 bytes')
  if (!/^\d{1,20}$/.test(sequence)) return invalid(`type mismatch, parameter: message_id.sequence, error: ${sequence} is not valid`)
  const place = [Number(chain), emitter.toLowerCase(), String(BigInt(sequence))] as const
  if (what !== 'signed_vaa') return { code: 200, body: { isEnqueued: isHeld(...place) } }
  const vaa = find(...place)
  if (!vaa) return { code: 404, body: { code: 5, message: 'requested VAA not found in store', details: [] } }
  return { code: 200, body: { vaaBytes: Buffer.from(vaa).toString('base64') } }
}

function invalid(message: string): VaaAnswer {
  return { code: 400, body: { code: 3, message, details: [] } }
}
