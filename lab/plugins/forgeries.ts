import { toBeHex, zeroPadValue } from 'ethers'
import type { Config } from '../../config/schema/schema.ts'
import { encodeCall, encodeMessageCall } from '../../bridges/kit/calls.ts'
import type { CallRule, Plugin, SignedMessage } from '../../bridges/kit/plugin.ts'
import { valueOf, wordOf } from '../../bridges/kit/signed-messages.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { connectNetwork } from '../../workers/roles/network.ts'
import { freshAddress } from '../devnet/chain/accounts.ts'
import type { Devnet } from '../devnet/index.ts'
import { type Result, resultOf, type Sent } from './result.ts'

interface Call {
  readonly to: string
  readonly data: string
  readonly value: string
}

/**
 * Tests that the config's rules prove a genuine call and, without other checks, refuse its forgeries (at least seven).
 */
export async function tryForgeries(
  devnet: Devnet,
  config: Config,
  { plugin, sent }: { readonly plugin: Plugin<unknown>; readonly sent: readonly Sent[] },
): Promise<Result[]> {
  const genuine = sent.find(({ route }) => route.calls.some(({ proof }) => proof === 'message'))
  const rule = genuine?.route.calls.find(({ proof }) => proof === 'message')
  if (!genuine || !rule) return [{ what: 'forged calls', problem: 'send() sent no message of a route whose call takes the message' }]
  const network = await connectNetwork(config)
  try {
    const endpoint = network.bridges.get(plugin.name)?.endpoints.get(genuine.route.to)
    if (!endpoint) throw new Error(`no endpoint on ${genuine.route.to}`)
    const call = callOf(rule, genuine.message)
    const isGenuine = await resultOf('the genuine call is proved', async () => void (await endpoint.proveCall(call)))
    const refused = Object.entries(forgeriesOf(devnet, genuine, rule)).map(([what, forged]) =>
      resultOf(`refused: ${what}`, async () => {
        const error = await endpoint.proveCall(forged).then(() => undefined, toRelayerError)
        if (!error) throw new Error('the key would sign it')
        if (error.code === 'INTERNAL') throw error
      }),
    )
    return [isGenuine, ...(await Promise.all(refused))]
  } finally {
    network.close()
  }
}

/**
 * A call of the rule. Each argument after the message has the only value that its bound allows, or 0 if the bound is a
 * maximum.
 */
const callOf = ({ contract, function: signature, rest = [] }: CallRule, message: SignedMessage, bytes = message.bytes): Call => {
  const words = rest.map((bound) => {
    if ('atMost' in bound) return toBeHex(0, 32)
    if ('is' in bound) return wordOf(valueOf(bound.is, message))
    return zeroPadValue(message.payload.slice(...bound.payload), 32)
  })
  return { to: contract, data: encodeMessageCall(signature, bytes, words.map((one) => one.slice(2)).join('')), value: '0' }
}

/** Changes the last argument after the message to a value above its maximum, or to a wrong value. */
function argumentForgeries(call: Call, { rest = [] }: CallRule): Readonly<Record<string, Call>> {
  const last = rest.at(-1)
  if (!last) return {}
  const end = 10 + 64 * (rest.length + 1)
  const word = BigInt(`0x${call.data.slice(end - 64, end)}`)
  const forged = toBeHex('atMost' in last ? BigInt(last.atMost) + 1n : word ^ 1n, 32).slice(2)
  return { 'another argument': { ...call, data: call.data.slice(0, end - 64) + forged + call.data.slice(end) } }
}

function forgeriesOf({ guardian }: Devnet, { message, vaa, route }: Sent, rule: CallRule): Readonly<Record<string, Call>> {
  const { bytes } = message
  const call = callOf(rule, message)
  const foreign = guardian.sign({
    ...{ timestamp: vaa.timestamp, vaaNonce: 0, consistencyLevel: 1 },
    ...{ emitterChain: vaa.emitterChain, emitter: 'f'.repeat(64), sequence: BigInt(vaa.sequence) },
    payload: `0x${Buffer.from(vaa.payload).toString('hex')}`,
  })
  const withByte = (at: number, change: (byte: number) => number) => {
    const copy = Uint8Array.from(bytes)
    copy[at] = change(copy[at] ?? 0)
    return copy
  }
  const undue = route.calls.find(({ proof }) => proof !== 'message')
  return {
    'another function': { ...call, data: `0xdeadbeef${call.data.slice(10)}` },
    'a message that guardians signed for another emitter': callOf(rule, message, foreign.bytes),
    'additional bytes after the message': callOf(rule, message, Buffer.concat([bytes, Buffer.from([0])])),
    ...coinForgeries(call, rule),
    ...argumentForgeries(call, rule),
    'a changed payload': callOf(
      rule,
      message,
      withByte(bytes.length - 1, (byte) => byte ^ 1),
    ),
    // Byte 4 of a VAA is the last byte of the guardian set's index.
    'another guardian set': callOf(
      rule,
      message,
      withByte(4, (byte) => byte + 9),
    ),
    ...(undue
      ? { 'a stage that is not due': { to: undue.contract, data: stateCall(undue), value: '0' } }
      : { 'another contract': { ...call, to: freshAddress() } }),
  }
}

/** Calls with too many coins. The message is already delivered, so even one wei is too much. */
function coinForgeries(call: Call, { coins }: CallRule): Readonly<Record<string, Call>> {
  if (!coins) return { 'a call that carries coins': { ...call, value: '1' } }
  return {
    'more coins than the rule allows': { ...call, value: String(BigInt(coins.atMost) + 1n) },
    'coins for a message that is already delivered': { ...call, value: '1' },
  }
}

/** Calldata of the rule's function with an argument that does not belong to any transfer. */
function stateCall({ function: signature }: CallRule): string {
  const type = signature.slice(signature.indexOf('(') + 1, -1)
  const arg = type === 'bool' ? true : type === 'address' ? freshAddress() : type === 'bytes32' ? `0x${'5a'.repeat(32)}` : 90
  return encodeCall({ function: signature, args: [arg] })
}
