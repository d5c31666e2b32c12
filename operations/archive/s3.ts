import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { backoffMs } from '../../domain/backoff.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type BoundedAnswer, fetchBounded } from '../../runtime/http/fetch-bounded.ts'
import { pause } from '../../runtime/wait.ts'
import type { ArchiveStore, S3Place } from './store.ts'

const timeoutMs = 60_000
const mostBytes = 512 * 1024 * 1024
const tries = 4
const [firstPauseMs, longestPauseMs] = [200, 5_000] as const
/** 412: another process wrote first. 409: another write is in progress. Source: S3 user guide, conditional-writes. */
const othersWrote: ReadonlySet<number> = new Set([409, 412])

interface Write {
  readonly body: string
  readonly condition: Readonly<Record<string, string>>
}

type Sign = Awaited<ReturnType<typeof createSigner>>

/** An archive in an S3 bucket. Uses only the signer of the AWS SDK, not its S3 client. */
export function createS3Store(place: S3Place): ArchiveStore {
  let signing: Promise<Sign> | undefined

  async function request(name: string, write?: Write): Promise<BoundedAnswer> {
    signing ??= createSigner(place.region)
    const sign = await signing
    for (let count = 1; ; count++) {
      const answer = await send(name, urlOf(place, name), sign, write)
      if (!(answer instanceof Error)) {
        if (answer.ok || answer.status === 404 || othersWrote.has(answer.status)) return answer
        if (answer.status < 500 && answer.status !== 429) throw unavailable(name, problemOf(answer))
      }
      if (count === tries) throw unavailable(name, answer instanceof Error ? answer.message : problemOf(answer))
      await pause(backoffMs(count - 1, firstPauseMs, longestPauseMs))
    }
  }

  /** Throws ARCHIVE_UNAVAILABLE for a missing bucket, because the service answers 404 for this too. */
  function isMissing(name: string, { status, text }: BoundedAnswer): boolean {
    if (status === 404 && text.includes('NoSuchBucket')) throw unavailable(name, `there is no bucket ${place.bucket}`)
    return status === 404
  }

  return {
    async get(name) {
      const answer = await request(name)
      if (isMissing(name, answer)) return undefined
      const version = answer.headers.get('etag')
      if (!answer.ok || version === null) throw unavailable(name, answer.ok ? 'an answer without an ETag' : problemOf(answer))
      return { text: answer.text, version }
    },
    async put(name, text, was) {
      const condition: Record<string, string> = was ? { 'if-match': was.version } : { 'if-none-match': '*' }
      const answer = await request(name, { body: text, condition })
      return !isMissing(name, answer) && !othersWrote.has(answer.status)
    },
  }
}

function urlOf({ bucket, region, endpoint, prefix }: S3Place, name: string): URL {
  const base = endpoint === undefined ? `https://${bucket}.s3.${region}.amazonaws.com/` : `${endpoint.replace(/\/$/, '')}/${bucket}/`
  return new URL(`${base}${[...prefix.split('/'), ...name.split('/')].map(encodeURIComponent).filter(Boolean).join('/')}`)
}

async function send(name: string, url: URL, sign: Sign, write: Write | undefined): Promise<BoundedAnswer | Error> {
  const request = await sign(url, write).catch((error: unknown) => {
    throw unavailable(name, asError(error).message)
  })
  return fetchBounded(url, request, { timeoutMs, mostBytes }).catch(asError)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

async function createSigner(region: string) {
  const [{ SignatureV4 }, { defaultProvider }] = await Promise.all([
    import('@smithy/signature-v4'),
    import('@aws-sdk/credential-provider-node'),
  ])
  const signer = new SignatureV4({ service: 's3', region, credentials: defaultProvider(), sha256: Sha256, uriEscapePath: false })
  return async ({ protocol, hostname, port, pathname: path, host }: URL, write: Write | undefined) => {
    const headers = { host, ...(write && { ...write.condition, 'content-type': 'application/x-ndjson' }) }
    const request = { method: write ? 'PUT' : 'GET', ...(write && { body: write.body }) }
    const signed = await signer.sign({ ...request, protocol, hostname, path, headers, ...(port && { port: Number(port) }) })
    const { host: _, ...rest } = signed.headers
    return { ...request, headers: rest }
  }
}

/** The AWS signer needs this interface. With a secret: HMAC-SHA-256. */
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest())
  }

  reset(): never {
    throw new Error('The signer makes a new hash instead.')
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
}

/** Shows only the code of the server's error, because the error's text may quote the request. */
function problemOf({ status, text }: Pick<BoundedAnswer, 'status' | 'text'>): string {
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1]
  return `HTTP ${status}${code ? ` ${code}` : ''}`
}

function unavailable(name: string, detail: string): RelayerError {
  return new RelayerError('ARCHIVE_UNAVAILABLE', { detail, facts: { name } })
}
