import { ParamType } from 'ethers'
import { planOf } from '../../bridges/packages/endpoints.ts'
import type { Message, Plugin, Target } from '../../bridges/kit/plugin.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Messages, Sent } from './result.ts'

const rounds = 2_000
/** Maximum CPU time of all functions together for one message, ms. */
const longestMs = 250

/**
 * Changes payloads, and the answers of views for `next`, at random. Throws Error with the first payload on which the
 * plug-in fails.
 */
export async function fuzzPlugin(plugin: Plugin<unknown>, messages: Messages, sent: readonly Sent[]): Promise<void> {
  const random = createRandom(1)
  for (let round = 0; round < rounds; round++) {
    const { message } = sent[round % sent.length] as Sent
    const start = message.bytes.length - message.payload.length
    const payload = changed(message.payload, random)
    const bytes = Buffer.concat([message.bytes.subarray(0, start), payload])
    const began = process.cpuUsage()
    const own = messageOf(messages, bytes)
    const problem = typeof own === 'string' ? own : own && problemWith(plugin, own)
    const { user, system } = process.cpuUsage(began)
    const took = (user + system) / 1_000
    const ofNext = typeof own === 'object' ? await problemWithNext(plugin, own, random) : undefined
    const what = `the payload 0x${payload.toString('hex').slice(0, 400)}`
    if (problem !== undefined) throw new Error(`${what}: ${problem}`)
    if (ofNext !== undefined) throw new Error(`${what}, and random answers of views: ${ofNext}`)
    if (took > longestMs) throw new Error(`${what} takes ${Math.round(took)} ms`)
  }
}

/**
 * The message, or the reason why the plug-in cannot read it. Undefined if the bytes are not a message of the plug-in.
 */
function messageOf(messages: Messages, bytes: Uint8Array): Message<unknown> | string | undefined {
  try {
    return messages.readBytes(bytes).message
  } catch (error) {
    const { code, about } = toRelayerError(error)
    return code === 'PAYLOAD_KIND' ? undefined : about
  }
}

function problemWith(plugin: Plugin<unknown>, message: Message<unknown>): string | undefined {
  try {
    for (const stage of Object.keys(plugin.stages)) planOf(plugin, message, stage)
    plugin.policy?.(message)
    plugin.earned?.(message)
    return undefined
  } catch (error) {
    return toRelayerError(error).about
  }
}

/**
 * The error of `next`, or undefined. `next` may pass on an error of a node. The times that it returns depend on the
 * random answers, so they may be too far ahead.
 */
async function problemWithNext({ next }: Plugin<unknown>, message: Message<unknown>, random: Random): Promise<string | undefined> {
  const read: Target['read'] = async ({ returns }) => {
    if (random(8) === 0) throw new RelayerError('NODE_UNAVAILABLE')
    return (ParamType.from(`tuple(${returns})`).components ?? []).map((type) => randomAnswer(type, random))
  }
  try {
    await next?.(message, { now: Math.floor(Date.now() / 1000), read })
    return undefined
  } catch (error) {
    const { code, about } = toRelayerError(error)
    return code === 'NODE_UNAVAILABLE' || about.includes('more than ten years ahead') ? undefined : about
  }
}

/** A value in the form that ethers gives to values of this type. Numbers are small, like times and amounts. */
function randomAnswer({ baseType, type, components, arrayChildren, arrayLength }: ParamType, random: Random): unknown {
  if (arrayChildren) {
    const length = arrayLength === null || arrayLength < 0 ? random(4) : arrayLength
    return Array.from({ length }, () => randomAnswer(arrayChildren, random))
  }
  if (components) return components.map((one) => randomAnswer(one, random))
  const hex = (length: number) => `0x${Buffer.from(Array.from({ length }, () => random(256))).toString('hex')}`
  if (baseType === 'bool') return random(2) === 1
  if (baseType === 'address') return hex(20)
  if (baseType === 'string') return hex(random(10))
  if (baseType.startsWith('bytes')) return hex(Number(type.slice('bytes'.length) || random(100)))
  const number = [0n, 1n, BigInt(random(1_000)), BigInt(random(2 ** 31))][random(4)] ?? 0n
  return BigInt.asUintN(Number(/[0-9]+/.exec(baseType)?.[0] ?? 256) - 1, number)
}

function changed(payload: Uint8Array, random: Random): Buffer {
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

type Random = (below: number) => number

function createRandom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
