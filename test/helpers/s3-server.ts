import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { type IncomingMessage } from 'node:http'
import { listenHttp } from './servers.ts'

/** TEST-ONLY: AWS's own example credentials. */
export const s3Credentials = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
} as const

/**
 * Starts one bucket of S3, with PUT and GET by path, which may be conditional (by ETag). Verifies every signature (AWS
 * Signature Version 4) and every hash of a body with its own code.
 */
export async function startS3(bucket: string, region: string) {
  const objects = new Map<string, string>()
  const seen: string[] = []
  /** Statuses of the next answers, to any requests. */
  const failures: number[] = []
  /** For each of the next writes: whether its answer is lost after the write. */
  const lost: boolean[] = []
  const url = await listenHttp((request, response) => {
    void (async () => {
      const body = await bodyOf(request)
      const { method = '', url = '' } = request
      seen.push(`${method} ${url}`)
      const answer = (status: number, text = '') => response.writeHead(status, { 'content-type': 'application/xml' }).end(text)
      const error = (status: number, code: string) => answer(status, `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`)
      const failure = failures.shift()
      if (failure !== undefined) return error(failure, 'SlowDown')
      const problem = refusal(request, body, region)
      if (problem) return error(403, problem)
      const [, name, ...path] = decodeURI(url).split('/')
      if (name !== bucket) return error(404, 'NoSuchBucket')
      const key = path.join('/')
      const object = objects.get(key)
      if (method === 'PUT') {
        const { 'if-match': match, 'if-none-match': noneMatch } = request.headers
        if (match !== undefined && object === undefined) return error(404, 'NoSuchKey')
        if (match !== undefined && match !== etagOf(object)) return error(412, 'PreconditionFailed')
        if (noneMatch === '*' && object !== undefined) return error(412, 'PreconditionFailed')
        objects.set(key, body.toString('utf8'))
        if (lost.shift() === true) return response.destroy()
        return answer(200)
      }
      if (object === undefined) return error(404, 'NoSuchKey')
      response.setHeader('etag', etagOf(object))
      return answer(200, object)
    })()
  })
  return { url, objects, seen, failures, lost }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/**
 * Why S3 refuses a request, or undefined. https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
function refusal({ method = '', url = '', headers }: IncomingMessage, body: Buffer, region: string): string | undefined {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/
  const [, keyId, day = '', ofRegion, signedHeaders = '', signature = ''] = form.exec(headers.authorization ?? '') ?? []
  if (keyId !== s3Credentials.AWS_ACCESS_KEY_ID) return 'InvalidAccessKeyId'
  if (ofRegion !== region) return 'AuthorizationHeaderMalformed'
  const hash = sha256(body)
  if (headers['x-amz-content-sha256'] !== hash) return 'XAmzContentSHA256Mismatch'
  const names = signedHeaders.split(';')
  if (!names.includes('host') || !names.includes('x-amz-date') || !names.includes('x-amz-content-sha256')) return 'AccessDenied'
  const at = String(headers['x-amz-date'])
  const [, year, month, date, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(at) ?? []
  const age = Math.abs(Date.now() - Date.parse(`${year}-${month}-${date}T${hour}:${minute}:${second}Z`))
  if (!at.startsWith(day) || !(age < 15 * 60_000)) return 'RequestTimeTooSkewed'
  const canonical = [method, url, '', ...names.map((name) => `${name}:${String(headers[name]).trim()}`), '', signedHeaders, hash].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', at, scope, sha256(canonical)].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${s3Credentials.AWS_SECRET_ACCESS_KEY}`,
  )
  const wanted = createHmac('sha256', key).update(toSign).digest()
  return timingSafeEqual(wanted, Buffer.from(signature, 'hex')) ? undefined : 'SignatureDoesNotMatch'
}

function etagOf(object = ''): string {
  return `"${createHash('md5').update(object).digest('hex')}"`
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}
