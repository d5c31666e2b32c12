import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { createSpyIntake } from '../../intake/spy/spy.ts'
import type { Submitter } from '../../intake/submit/submitter.ts'
import { mostMessageBytes } from '../../domain/transfer/transfer.ts'
import { type Logger, silentLogger } from '../../observability/logger.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { nearlyBytes } from './arbitraries.ts'
import { type FuzzTarget, isTyped, target, wordsOf } from './fuzz.ts'

/** A gRPC frame: flag, length and payload. Plain JSON. */
interface Frame {
  /** 0: uncompressed. 1: marked as compressed. */
  readonly flag: number
  /** Difference between the stated and the true length, bytes. */
  readonly more: number
  /** A protobuf message, hex. */
  readonly payload: string
  readonly times: number
  readonly gzip: boolean
}

/** A hostile answer to a subscription. Plain JSON. */
export interface SpyAct {
  readonly headers: Readonly<Record<string, string>>
  readonly frames: readonly Frame[]
  /** Bytes per write. A write may end within a frame. */
  readonly piece: number
  readonly trailers: Readonly<Record<string, string>>
  readonly end: 'trailers' | 'reset' | 'cut'
}

const grpc = { ':status': '200', 'content-type': 'application/grpc' }
const bytesField = 0x0a
/** The honest spy sends this message after each hostile answer. The intake must submit it. */
const honest = Buffer.from('an honest message')
const aliveMs = 15_000
/** The flood counts as stopped if the intake is full and the spy sends nothing for this number of turns. */
const quietTurns = 30

const headers = fc.constantFrom<Readonly<Record<string, string>>>(
  ...Array.from({ length: 6 }, () => grpc),
  { ...grpc, 'grpc-encoding': 'gzip' },
  { ...grpc, 'grpc-encoding': 'gzip' },
  { ...grpc, 'grpc-encoding': 'unheard-of' },
  { ...grpc, 'content-type': 'text/html' },
  { ...grpc, ':status': '302', location: 'http://127.0.0.1:1/' },
  { ...grpc, ':status': '503' },
  { ...grpc, 'grpc-status': '999', 'grpc-message': '%ff%00%0a' },
)
const trailers = fc.record({
  'grpc-status': fc.constantFrom('0', '1', '8', '13', '16', '99', '-1', 'x', ''),
  'grpc-message': fc.oneof(
    fc.constantFrom('', 'too slow', '%', '%ff', '%0a%0d%00', '%0a'.repeat(2_000), 'a'.repeat(12_000)),
    fc.string({ maxLength: 20 }).map((text) => encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/g, ''))),
  ),
})

function spyActs(vaa: Uint8Array): fc.Arbitrary<SpyAct> {
  const message = Buffer.concat([Buffer.from([bytesField, ...varint(vaa.length)]), vaa])
  const payload = fc.oneof(
    { arbitrary: nearlyBytes(message), weight: 4 },
    // Damaged VAAs in a valid frame.
    { arbitrary: nearlyBytes(vaa).map((hex) => framed(Buffer.from(hex, 'hex'))), weight: 4 },
    // Wrong wire types, unknown fields, groups without an end, and lengths beyond the end.
    {
      arbitrary: fc.constantFrom(
        '',
        '0801',
        '0d01020304',
        '0b',
        '0c',
        '0affffffff0f',
        '0a00',
        '12020a00',
        '0a8080808080808080808001',
        `0a03${'aa'.repeat(2)}`,
      ),
      weight: 3,
    },
  )
  const frame = fc.record({
    flag: fc.constantFrom(0, 0, 0, 0, 0, 1, 255),
    more: fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1, 2 ** 22, 2 ** 31),
    payload,
    times: fc.constantFrom(1, 1, 1, 1, 20, 300),
    gzip: fc.constantFrom(false, false, false, true),
  })
  return fc.record({
    headers,
    frames: fc.array(frame, { maxLength: 6 }),
    piece: fc.constantFrom(1, 5, 100, 65_536, 65_536),
    trailers,
    end: fc.constantFrom('trailers' as const, 'trailers' as const, 'reset' as const, 'cut' as const),
  })
}

const textOf = (field: unknown) => (typeof field === 'string' ? field : '')

/**
 * Tests an intake against a hostile spy. The intake must submit the honest message, and may refuse other messages only
 * with typed errors.
 */
export async function startSpyTarget(
  vaa: Uint8Array,
  decode: (message: Uint8Array) => unknown,
): Promise<{ target: FuzzTarget; stop: () => Promise<void> }> {
  const spy = await listen()
  const untyped: unknown[] = []
  const said: string[] = []
  let heard = 0
  const logger: Logger = { ...silentLogger(), warn: (text, fields) => void said.push(text, textOf(fields?.['reason'])) }
  const submitter: Submitter = {
    async submit(_, message) {
      if (honest.equals(message)) return { id: `honest-${++heard}`, status: 'started' }
      decode(message)
      return { id: 'decoded', status: 'started' }
    },
  }
  const outcomes = (outcome: { kind: string; error?: unknown }) => {
    if (outcome.kind === 'refused' && !isTyped(outcome.error)) untyped.push(outcome.error)
  }
  const intake = createSpyIntake({
    ...{ bridge: 'wormhole-token-bridge', address: spy.address, filters: [], submitter },
    ...{ logger, metrics: createMetrics(), retry: { firstMs: 1, mostMs: 2 } },
    listener: { connected: () => undefined, received: (_, outcome) => outcomes(outcome) },
  })
  intake.start()

  async function read(act: SpyAct): Promise<void> {
    const before = heard
    spy.play(act)
    const until = performance.now() + aliveMs
    while (heard === before) {
      if (performance.now() > until) throw new Error(`the honest message was not submitted: ${JSON.stringify(intake.health)}`)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const odd = said.splice(0).find((text) => !wordsOf(text))
    if (odd !== undefined) throw new Error(`not readable for an operator, ${odd.length} characters: ${JSON.stringify(odd.slice(0, 200))}`)
    const [error] = untyped.splice(0)
    if (error !== undefined) throw toRelayerError(error)
  }
  const stop = async () => {
    await intake.stop(0)
    await spy.stop()
  }
  return { target: target('spy-stream', spyActs(vaa), read, () => false), stop }
}

/** Floods an intake that submits nothing. `turn` gives the process time to read and write. */
export async function flood(
  limit: number,
  turn: (sent: number) => Promise<unknown> = () => sleep(10),
): Promise<{ sent: number; kept: number; message: number }> {
  const message = frameOf(framed(Buffer.alloc(mostMessageBytes - 10, 1)))
  const bytes = Buffer.from(message)
  const state = { sent: 0 }
  const spy = await listen((stream) => {
    stream.respond(grpc)
    const more = () => {
      while (!stream.destroyed) {
        state.sent += bytes.length
        if (!stream.write(bytes)) return
      }
    }
    stream.on('drain', more)
    more()
  })
  const intake = createSpyIntake({
    ...{ bridge: 'wormhole-token-bridge', address: spy.address, filters: [], limit, logger: silentLogger(), metrics: createMetrics() },
    submitter: { submit: () => new Promise(() => undefined) },
  })
  intake.start()
  try {
    const until = performance.now() + aliveMs
    // Counts turns instead of time, because time also passes while the process is paused and reads nothing.
    for (let quiet = 0; quiet < quietTurns;) {
      if (performance.now() > until) throw new Error(`the flood goes on: ${state.sent} bytes, ${intake.health.kept} kept`)
      const before = state.sent
      await turn(before)
      quiet = intake.health.kept >= limit && before === state.sent ? quiet + 1 : 0
    }
    return { sent: state.sent, kept: intake.health.kept, message: bytes.length }
  } finally {
    await intake.stop(0)
    await spy.stop()
  }
}

function perform({ headers: head, frames, piece, trailers: tail, end }: SpyAct, stream: ServerHttp2Stream): void {
  stream.on('error', () => undefined)
  stream.on('wantTrailers', () => {
    try {
      stream.sendTrailers(tail)
    } catch {
      // HTTP/2 forbids these trailers.
      stream.close()
    }
  })
  stream.respond({ ...head }, { waitForTrailers: true })
  const all = Buffer.concat(frames.map((frame) => Buffer.concat(Array.from({ length: frame.times }, () => bytesOf(frame)))))
  const bytes = all.subarray(0, 8_000_000)
  const step = Math.max(piece, Math.ceil(bytes.length / 200))
  for (let at = 0; at < bytes.length && !stream.destroyed; at += step) stream.write(bytes.subarray(at, at + step))
  if (end === 'trailers') stream.end()
  // The callback runs once all earlier writes have been sent.
  else stream.write('', () => (end === 'reset' ? stream.close(2) : stream.session?.destroy()))
}

function bytesOf({ flag, more, payload, gzip }: Frame): Buffer {
  const plain = Buffer.from(payload, 'hex')
  return frameOf((gzip ? gzipSync(plain) : plain).toString('hex'), flag, more)
}

function frameOf(payload: string, flag = 0, more = 0): Buffer {
  const bytes = Buffer.from(payload, 'hex')
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(Math.max(0, bytes.length + more) % 2 ** 32, 1)
  return Buffer.concat([head, bytes])
}

function framed(vaa: Uint8Array): string {
  return Buffer.concat([Buffer.from([bytesField, ...varint(vaa.length)]), vaa]).toString('hex')
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}

/**
 * A gRPC server without a gRPC library, because a library could not send invalid frames. `always` answers every stream.
 * Without `always`, the act of `play` answers the next stream, and all other streams get honest answers.
 */
async function listen(always?: (stream: ServerHttp2Stream) => void) {
  const server: Http2Server = createServer()
  const sessions = new Set<ServerHttp2Session>()
  const streams = new Set<ServerHttp2Stream>()
  let next: SpyAct | undefined
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => undefined)
    session.on('close', () => sessions.delete(session))
  })
  server.on('stream', (stream) => {
    stream.on('error', () => undefined)
    streams.add(stream)
    stream.on('close', () => streams.delete(stream))
    if (always) return always(stream)
    const act = next
    next = undefined
    if (act) return perform(act, stream)
    stream.respond(grpc)
    stream.write(frameOf(framed(honest)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Sets the act of the next subscription and ends open subscriptions. */
    play(act: SpyAct): void {
      next = act
      for (const stream of streams) stream.close()
    },
    stop(): Promise<void> {
      for (const session of sessions) session.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
