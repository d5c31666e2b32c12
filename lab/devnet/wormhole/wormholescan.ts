import { type FindVaa, guardianAnswer } from './guardian-api.ts'
import { startVaaServer, type VaaAnswer, type VaaServer } from './vaa-server.ts'

/** Serves `/api/v1/vaas/…` and the guardians' routes (wormhole-explorer, api/routes). */
export function startWormholescan(find: FindVaa, port = 0, isHeld: FindVaa<boolean> = () => false): Promise<VaaServer> {
  return startVaaServer((method, path) => answer(method, path, find, isHeld), port)
}

function answer(method: string, path: string, find: FindVaa, isHeld: FindVaa<boolean>): VaaAnswer {
  const parts = /^\/api\/v1\/vaas\/(\d{1,5})\/([0-9a-fA-F]{64})\/(\d{1,20})$/.exec(path)
  if (method !== 'GET' || !parts) return guardianAnswer(method, path, find, isHeld)
  const [, chain = '', emitter = '', digits = ''] = parts
  const sequence = String(BigInt(digits))
  const vaa = find(Number(chain), emitter.toLowerCase(), sequence)
  if (!vaa) return { code: 404, body: { code: 5, message: 'NOT FOUND', details: [{ request_id: 'devnet' }] } }
  const id = `${chain}/${emitter.toLowerCase()}/${sequence}`
  // Wormholescan gives the sequence as a number, which is inexact above 2^53. Clients use only the bytes.
  const data = {
    sequence: Number(sequence),
    id,
    version: 1,
    emitterChain: Number(chain),
    emitterAddr: emitter,
    vaa: Buffer.from(vaa).toString('base64'),
  }
  return { code: 200, body: { data, pagination: { next: '' } } }
}
