import { computeAddress } from 'ethers'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { AnswerTooLong, fetchBounded } from '../../../runtime/http/fetch-bounded.ts'
import type { Key, SignatureNumbers } from './verified.ts'

export interface RemoteSpec {
  readonly kind: 'remote'
  /** URL of a web3signer in eth1 mode. User info in the URL becomes HTTP basic authentication. */
  readonly url: string
  /** Public key in web3signer. Default: the key of the lane's address. */
  readonly identifier?: string | undefined
  readonly timeoutMs: number
}

/** A key behind web3signer (Eth1SignRoute). Throws SIGNER_OFFLINE, and SIGNER_UNAVAILABLE for an unknown key. */
export async function createRemoteKey(spec: RemoteSpec, expected?: string): Promise<Key> {
  const service = connect(spec)
  const known = await service.publicKeys()
  const wanted = spec.identifier?.toLowerCase().replace(/^0x/, '')
  const found = known.find((key) => (wanted === undefined ? addressOf(key) === expected?.toLowerCase() : digits(key) === wanted))
  const address = found === undefined ? undefined : addressOf(found)
  if (found === undefined || address === undefined) {
    const detail = `The remote signer has ${known.length} keys, but not this one: load it there, or correct identifier.`
    throw new RelayerError('SIGNER_UNAVAILABLE', { detail, facts: { ...service.facts, address: expected?.toLowerCase() } })
  }
  return { address, sign: ({ unsigned }) => service.sign(found, unsigned) }
}

const mostBytes = 4 * 1_024 * 1_024

function connect({ url, timeoutMs }: RemoteSpec) {
  const base = new URL(url)
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  const facts = { signer: base.origin }

  async function ask(path: string, body?: unknown): Promise<string> {
    const request = {
      method: body === undefined ? 'GET' : 'POST',
      headers: { accept: '*/*', ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    let status: number
    let text: string
    try {
      ;({ status, text } = await fetchBounded(new URL(path, base), request, { timeoutMs, mostBytes }))
    } catch (error) {
      if (error instanceof AnswerTooLong) throw offline('The remote signer gave an answer that is too long.')
      const silent = error instanceof Error && error.name === 'TimeoutError'
      // The cause is left out, because it may quote the URL.
      throw offline(silent ? `The remote signer did not answer within ${timeoutMs} ms.` : 'The remote signer cannot be reached.')
    }
    if (status === 200) return text
    // The body is left out, because it may quote the request.
    throw offline(`The remote signer answered with ${status}${meanings[status] ?? ''}.`)
  }

  function offline(detail: string): RelayerError {
    return new RelayerError('SIGNER_OFFLINE', { detail, facts })
  }

  return {
    facts,
    async publicKeys(): Promise<readonly string[]> {
      const list = parseJson(await ask('api/v1/eth1/publicKeys'))
      if (!Array.isArray(list) || !list.every((key) => typeof key === 'string')) throw offline('Its answer is not a list of public keys.')
      return list
    },
    async sign(identifier: string, data: string): Promise<SignatureNumbers> {
      const text = (await ask(`api/v1/eth1/sign/${encodeURIComponent(identifier)}`, { data })).trim().replace(/^"|"$/g, '')
      if (!/^0x[0-9a-f]{130}$/i.test(text)) throw offline('Its answer is not a signature.')
      return { r: BigInt(text.slice(0, 66)), s: BigInt(`0x${text.slice(66, 130)}`) }
    },
  }
}

const meanings: Readonly<Record<number, string>> = {
  400: ' (it refuses the request)',
  401: ' (it requires other credentials)',
  403: ' (it does not allow this request)',
  404: ' (it does not have the key, or the URL is not that of its eth1 API)',
  302: ' (a redirect, which is not followed)',
  307: ' (a redirect, which is not followed)',
  429: ' (too many requests)',
}

function addressOf(publicKey: string): string | undefined {
  try {
    return computeAddress(`0x${digits(publicKey)}`).toLowerCase()
  } catch {
    return undefined
  }
}

function digits(key: string): string {
  return key.toLowerCase().replace(/^0x/, '')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
