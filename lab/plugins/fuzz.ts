import { planOf } from '../../bridges/packages/endpoints.ts'
import type { Plugin } from '../../bridges/kit/plugin.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Messages, Sent } from './result.ts'

const rounds = 2_000
/** Longest time that all functions together may take for one message, ms. */
const longestMs = 250

/** Changes payloads at random. Throws Error with the first payload on which the plug-in fails. */
export async function fuzzPlugin(plugin: Plugin<unknown>, messages: Messages, sent: readonly Sent[]): Promise<void> {
  const random = createRandom(1)
  for (let round = 0; round < rounds; round++) {
    const { message } = sent[round % sent.length] as Sent
    const start = message.bytes.length - message.payload.length
    const payload = changed(message.payload, random)
    const bytes = Buffer.concat([message.bytes.subarray(0, start), payload])
    const began = performance.now()
    const problem = problemWith(plugin, messages, bytes)
    const took = performance.now() - began
    const what = `the payload 0x${payload.toString('hex').slice(0, 400)}`
    if (problem !== undefined) throw new Error(`${what}: ${problem}`)
    if (took > longestMs) throw new Error(`${what} takes ${Math.round(took)} ms`)
  }
}

function problemWith(plugin: Plugin<unknown>, messages: Messages, bytes: Uint8Array): string | undefined {
  try {
    const { message } = messages.readBytes(bytes)
    for (const stage of Object.keys(plugin.stages)) planOf(plugin, message, stage)
    return undefined
  } catch (error) {
    const { code, about } = toRelayerError(error)
    return code === 'PAYLOAD_KIND' ? undefined : about
  }
}

function changed(payload: Uint8Array, random: (below: number) => number): Buffer {
  const bytes = Buffer.from(payload)
  switch (random(4)) {
    case 0:
      return bytes.subarray(0, random(bytes.length + 1))
    case 1:
      return Buffer.concat([bytes, Buffer.from(Array.from({ length: 1 + random(100) }, () => random(256)))])
    case 2:
      return Buffer.from(Array.from({ length: random(300) }, () => random(256)))
    default:
      for (let count = 1 + random(8); count > 0 && bytes.length > 0; count--) bytes[random(bytes.length)] = random(256)
      return bytes
  }
}

function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
