import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { keptRead } from '../runtime/shared-read.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const buildTimeoutMs = 60_000
const retryMs = 10_000

export const pageHeaders = {
  'content-security-policy': [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:"],
    ...["frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"],
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
} as const

/** Fixed paths: the path of a request never becomes the path of a file. */
const served = [
  { path: '/', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/page/page.js', file: 'page.js', type: 'text/javascript; charset=utf-8' },
  { path: '/page/page.css', file: 'page.css', type: 'text/css; charset=utf-8' },
  { path: '/page/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
] as const

/** The page's files need no token, because they contain no data. The page reads `/v1` with a token. */
const open: Pick<RouteOptions, 'config' | 'schema'> = { config: { access: 'open' }, schema: { hide: true } }

export function pageRoutes(app: Pick<FastifyInstance, 'get'>): void {
  for (const { path, file } of served)
    app.get(path, open, async (request, reply) => {
      const files = await pageFiles().catch(() => undefined)
      const found = files?.get(file)
      return found ? sendFile(request, reply, found) : sendUnbuilt(reply)
    })
}

function sendFile({ headers: asked }: FastifyRequest, reply: FastifyReply, { type, etag, plain, zipped }: PageFile) {
  void reply.headers({ ...pageHeaders, etag, vary: 'accept-encoding' })
  if (asked['if-none-match'] === etag) return reply.status(304).send()
  const isZipped = /\bgzip\b/.test(asked['accept-encoding'] ?? '')
  if (isZipped) void reply.header('content-encoding', 'gzip')
  return reply.type(type).send(isZipped ? zipped : plain)
}

function sendUnbuilt(reply: FastifyReply) {
  const text =
    'The page of Portage is not built, and could not be built now: npm run setup builds it. The API works without it: docs/start/page.md.\n'
  return reply.status(503).headers(pageHeaders).type('text/plain; charset=utf-8').send(text)
}

/** Loads the files once. After a failure, tries again at the first request after `retryMs` (ms). */
const pageFiles = keptRead(load, { fromAnswer: (files) => (files ? Infinity : retryMs) })

async function load() {
  const folder = await builtFolder()
  return new Map(await Promise.all(served.map(async (one) => [one.file, await readPageFile(folder, one)] as const)))
}

type PageFile = Awaited<ReturnType<typeof readPageFile>>

async function readPageFile(folder: string, { file, type }: (typeof served)[number]) {
  const plain = await readFile(join(folder, file))
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 27)}"`
  return { type, etag, plain, zipped: await promisify(gzip)(plain, { level: 9 }) }
}

/** The folder of the page's files. In a checkout, bin/page.js builds it, because compiled code has no builder. */
async function builtFolder(): Promise<string> {
  const released = join(root, 'dist/page')
  if (existsSync(released)) return released
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'bin/page.js')], { timeout: buildTimeoutMs })
  return stdout.trim()
}
