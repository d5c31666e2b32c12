import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Socket } from 'node:net'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { silentLogger } from '../../observability/logger.ts'
import { inSpan, inTrace, traceFields, useTracing } from '../../observability/tracing.ts'
import { createTracing } from '../../workers/telemetry/otlp.ts'
import { startTracing } from '../../workers/process/runtime.ts'
import { startOtlpReceiver } from '../helpers/otlp-receiver.ts'
import { listenHttp } from '../helpers/servers.ts'

const off = { otlpEndpoint: undefined, traceRatio: 1 }
let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>
beforeAll(async () => {
  receiver = await startOtlpReceiver()
})
afterEach(() => useTracing(undefined))

const options = () => ({ endpoint: receiver.url, ratio: 1, role: 'all' as const, logger: silentLogger() })

test('without an endpoint, or where OpenTelemetry is switched off, nothing is traced', async () => {
  const about = { role: 'all' as const, logger: silentLogger() }
  expect(await startTracing(off, { ...about, env: {} })).toBeUndefined()
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SDK_DISABLED: 'true' }
  expect(await startTracing({ ...off, otlpEndpoint: receiver.url }, { ...about, env })).toBeUndefined()
  expect(await inTrace('submit', {}, async () => traceFields())).toEqual({})
})

test('only calls in a trace are recorded, as parts of the trace, and errors carry no secret', async () => {
  const tracing = createTracing(options())
  useTracing(tracing)
  await inSpan('rpc eth_call', {}, async () => undefined)
  let inside: Readonly<Record<string, string>> = {}
  const failed = inTrace('submit', { 'portage.bridge': 'b' }, async () => {
    await inSpan('rpc eth_chainId', { 'rpc.method': 'eth_chainId' }, async () => (inside = traceFields()))
    throw new Error('https://user:hunter2@node.example/v3/0123456789abcdef0123456789abcdef did not answer')
  })
  await expect(failed).rejects.toThrow('did not answer')
  expect(traceFields()).toEqual({})
  await tracing.close()
  // `close` waits at most 3 s for the spans. The collector may get them later.
  await expect.poll(() => receiver.spans.map(({ name }) => name).toSorted()).toEqual(['rpc eth_chainId', 'submit'])
  const [rpc, submit] = ['rpc eth_chainId', 'submit'].map((name) => receiver.spans.find((span) => span.name === name)!)
  expect(rpc).toMatchObject({ traceId: submit!.traceId, parentSpanId: submit!.spanId, spanId: inside['span_id'] })
  expect(inside['trace_id']).toBe(submit!.traceId)
  expect(submit).toMatchObject({ parentSpanId: '', attributes: { 'portage.bridge': 'b', 'error.type': 'INTERNAL' } })
  expect(receiver.bodies.join()).not.toMatch(/hunter2|0123456789abcdef0123456789abcdef/)
})

test('with a ratio of 0 no trace is recorded; a missing collector stops nothing', async () => {
  const before = receiver.spans.length
  const tracing = createTracing({ ...options(), ratio: 0 })
  useTracing(tracing)
  expect(await inTrace('submit', {}, async () => inSpan('rpc eth_call', {}, async () => 5))).toBe(5)
  await tracing.close()
  expect(receiver.spans.length).toBe(before)
  const away = createTracing({ ...options(), endpoint: 'http://127.0.0.1:9' })
  useTracing(away)
  expect(await inTrace('submit', {}, async () => 7)).toBe(7)
  await away.close()
})

test('a collector that closes idle connections loses no span', async () => {
  // Many servers close a connection after five idle seconds, and the exporter sends every five seconds.
  const used = new Set<Socket>()
  const names: string[] = []
  const url = await listenHttp((request, response) => {
    if (used.has(request.socket)) return request.socket.destroy()
    used.add(request.socket)
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      names.push(...['first', 'second'].filter((name) => body.includes(`"name":"${name}"`)))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '50')
  const tracing = createTracing({ ...options(), endpoint: url })
  vi.unstubAllEnvs()
  useTracing(tracing)
  await inTrace('first', {}, async () => undefined)
  await expect.poll(() => names).toEqual(['first'])
  await inTrace('second', {}, async () => undefined)
  await tracing.close()
  await expect.poll(() => names).toEqual(['first', 'second'])
})

test('a process without traces loads nothing of OpenTelemetry', async () => {
  const folder = fileURLToPath(new URL('../../workers', import.meta.url))
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts') && !name.endsWith('otlp.ts'))
  const sources = await Promise.all(files.map(async (name) => readFile(join(folder, name), 'utf8')))
  // Only files in this folder can import otlp.ts, because scripts/rooms.ts allows no other file to import
  // OpenTelemetry.
  const imports = sources.flatMap((text) => text.split('\n').filter((line) => line.includes("/otlp.ts'")))
  const late = imports.filter((line) => !/^(import|export) type /.test(line))
  expect(late).toEqual([expect.stringContaining("await import('../telemetry/otlp.ts')")])
})
