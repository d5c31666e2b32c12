import { keccak256, SigningKey } from 'ethers'
import type { DevnetAccount } from '../chain/accounts.ts'
import { type Answer, type SigningService, startSigningService } from './signing-service.ts'

interface Lies {
  alter?: ((data: string) => string) | undefined
  answer?: ((signature: string) => string) | undefined
}

export interface Web3Signer extends SigningService {
  readonly lies: Lies
}

const text = 'text/plain; charset=utf-8'

/** Starts the part of web3signer's eth1 API that a relayer needs. For DEVNET keys. */
export async function startWeb3Signer(accounts: readonly DevnetAccount[], port = 0): Promise<Web3Signer> {
  const keys = new Map(accounts.map(({ privateKey }) => [publicKeyOf(privateKey), new SigningKey(privateKey)] as const))
  const lies: Lies = {}
  const service = await startSigningService(({ method, url = '/' }, body) => {
    const path = new URL(url, 'http://signer').pathname
    if (method === 'GET' && path === '/upcheck') return { status: 200, type: text, body: 'OK' }
    if (method === 'GET' && path === '/api/v1/eth1/publicKeys') {
      return { status: 200, type: 'application/json', body: JSON.stringify([...keys.keys()].map((key) => `0x${key}`)) }
    }
    const identifier = /^\/api\/v1\/eth1\/sign\/(?:0x)?([^/]+)$/.exec(path)?.[1]
    if (method !== 'POST' || identifier === undefined) return { status: 404, type: text, body: 'Resource not found' }
    return sign(keys.get(identifier.toLowerCase()), body, lies)
  }, port)
  return Object.assign(service, { lies })
}

function sign(key: SigningKey | undefined, body: string, { alter, answer }: Lies): Answer {
  const data = dataOf(body)
  if (data === undefined) return { status: 400, type: text, body: 'Bad Request' }
  if (!key) return { status: 404, type: text, body: 'Public Key not found' }
  const { serialized } = key.sign(keccak256(alter?.(data) ?? data))
  return { status: 200, type: text, body: answer?.(serialized) ?? serialized, signed: true }
}

function dataOf(body: string): string | undefined {
  try {
    const { data } = JSON.parse(body) as { data?: unknown }
    return typeof data === 'string' && /^0x([0-9a-f]{2})+$/i.test(data) ? data : undefined
  } catch {
    return undefined
  }
}

/** The public key of a private key: 64 bytes, without the prefix of an uncompressed point. */
function publicKeyOf(privateKey: string): string {
  return SigningKey.computePublicKey(privateKey).slice(4).toLowerCase()
}
