import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '../../domain/backoff.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { fetchBounded } from '../../runtime/http/fetch-bounded.ts'
import type { ArchiveStore, S3Place } from './store.ts'

/** Longest wait for one answer, ms. */
const timeoutMs = 60_000
/** Far above a text of ten minutes at 100 transfers per second. */
const mostBytes = 512 * 1024 * 1024
/** A request is tried so often: a pass that fails is made again later, from where it was. */
const tries = 4
const [firstWaitMs, longestWaitMs] = [200, 5_000] as const
/**
 * The text is not the one that was read (412), or another is written at this moment (409).
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
 */
const othersWrote: ReadonlySet<number> = new Set([409, 412])

/**
 * A bucket of S3, or of a server that speaks its protocol (MinIO, R2, Ceph…), with the AWS SDK's own signer and chain of credentials: environment, shared files,
 * web identity, instance. Both are loaded here only, and are there for KMS anyway: no process with a key has a package more for it. The SDK's client for S3 would
 * add three (itself, its checksums, its middleware), for two requests.
 */
export function createS3Store(place: S3Place): ArchiveStore {
  const base =
    place.endpoint === undefined
      ? `https://${place.bucket}.s3.${place.region}.amazonaws.com/`
      : `${place.endpoint.replace(/\/$/, '')}/${place.bucket}/`
  const urlOf = (name: string) =>
    new URL(`${base}${[...place.prefix.split('/'), ...name.split('/')].map(encodeURIComponent).filter(Boolean).join('/')}`)
  let signing: ReturnType<typeof createSigner> | undefined
  const request = async (method: 'GET' | 'PUT', name: string, body?: string, condition: Readonly<Record<string, string>> = {}) => {
    signing ??= createSigner(place.region)
    const sign = await signing
    for (let count = 0; ; count++) {
      const url = urlOf(name)
      const headers = await sign(method, url, body, condition).catch((error: unknown) => {
        throw unavailable(name, String(error instanceof Error ? error.message : error))
      })
      const answer = await fetchBounded(url, { method, headers, ...(body !== undefined && { body }) }, { timeoutMs, mostBytes }).catch(
        (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
      )
      if (!(answer instanceof Error) && (answer.ok || answer.status === 404 || othersWrote.has(answer.status))) return answer
      const isPassing = answer instanceof Error || answer.status >= 500 || answer.status === 429
      if (!isPassing || count + 1 === tries) throw unavailable(name, answer instanceof Error ? answer.message : saysOf(answer))
      await delay(backoffMs(count, firstWaitMs, longestWaitMs))
    }
  }
  /** A bucket that is not there must not look like one that is empty. */
  const isMissing = (name: string, { status, text }: { readonly status: number; readonly text: string }) => {
    if (status === 404 && text.includes('NoSuchBucket')) throw unavailable(name, `there is no bucket ${place.bucket}`)
    return status === 404
  }
  return {
    async get(name) {
      const answer = await request('GET', name)
      if (isMissing(name, answer)) return undefined
      const version = answer.headers.get('etag')
      if (!answer.ok || version === null) throw unavailable(name, answer.ok ? 'an answer without an ETag' : saysOf(answer))
      return { text: answer.text, version }
    },
    async put(name, text, was) {
      const answer = await request('PUT', name, text, was ? { 'if-match': was.version } : { 'if-none-match': '*' })
      // Missing: it was removed since it was read.
      if (isMissing(name, answer) || othersWrote.has(answer.status)) return false
      return true
    },
  }
}

/** The headers of a signed request. */
async function createSigner(region: string) {
  const [{ SignatureV4 }, { defaultProvider }] = await Promise.all([
    import('@smithy/signature-v4'),
    import('@aws-sdk/credential-provider-node'),
  ])
  const signer = new SignatureV4({ service: 's3', region, credentials: defaultProvider(), sha256: Sha256, uriEscapePath: false })
  return async (method: string, url: URL, body: string | undefined, condition: Readonly<Record<string, string>>) => {
    const { protocol, hostname, port, pathname: path, host } = url
    const headers = { host, ...condition, ...(body !== undefined && { 'content-type': 'application/x-ndjson' }) }
    const signed = await signer.sign({
      method,
      protocol,
      hostname,
      path,
      headers,
      ...(port && { port: Number(port) }),
      ...(body !== undefined && { body }),
    })
    const { host: _, ...rest } = signed.headers
    return rest
  }
}

/** SHA-256 and its HMAC as the signer takes them. */
class Sha256 {
  readonly #secret: string | Uint8Array | undefined
  #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = typeof secret === 'string' || secret === undefined ? secret : bytesOf(secret)
    this.#hash = this.#fresh()
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest())
  }

  reset(): void {
    this.#hash = this.#fresh()
  }

  #fresh(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret)
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)
}

/** What the store says, without what it may repeat of the request. */
function saysOf({ status, text }: { readonly status: number; readonly text: string }): string {
  const code = /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1]
  return `HTTP ${status}${code ? ` ${code}` : ''}`
}

function unavailable(name: string, detail: string): RelayerError {
  return new RelayerError('ARCHIVE_UNAVAILABLE', { detail, facts: { name } })
}
