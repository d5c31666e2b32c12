import { hexlify, parseUnits, randomBytes } from 'ethers'
import { startCctpUsers } from './cctp/cctp-users.ts'
import { placeOfRequest } from './executor/network.ts'
import { requestDelivery } from './executor/users.ts'
import { startNativeUsers } from './native/native-users.ts'
import { startNttUsers } from './ntt/ntt-users.ts'
import type { PublishedChain } from './published-files.ts'
import { toUniversal } from './wormhole/vaa.ts'

interface Wanted {
  /** Amount in whole tokens. */
  readonly amount: string
  readonly count: number
}

/**
 * Sends from one chain to the other. Returns a line about each transfer. Throws Error if the devnet has no such
 * product.
 */
type Send = (source: PublishedChain, target: PublishedChain, wanted: Wanted) => Promise<string[]>

const line = (place: string, source: PublishedChain, target: PublishedChain, kind: string, recipient: string) =>
  `${place}  ${source.name} → ${target.name}  ${kind}  to ${recipient}\n`

const native: Send = async (source, target, { amount, count }) => {
  const users = startNativeUsers(...both('native bridge', source.native, target.native))
  const sent = await users.send(many(count, { amount: parseUnits(amount, 8) }))
  return sent.map(({ nonce, recipient }) => line(`${source.name}/${nonce}`, source, target, 'native', recipient))
}

const ntt: Send = async (source, target, { amount, count }) => {
  const users = startNttUsers(...both('NTT token', source.ntt, target.ntt))
  const sent = await users.send(many(count, { amount: parseUnits(amount, 8) }))
  return sent.map(({ emitterChain, emitter, sequence, recipient }) =>
    line(`${emitterChain}/${emitter}/${sequence}`, source, target, 'ntt', recipient),
  )
}

const burn: Send = async (source, target, { amount, count }) => {
  const users = startCctpUsers(...both('CCTP', source.cctp, target.cctp))
  const sent = await users.burn(many(count, { version: 2, amount: parseUnits(amount, 6) } as const))
  return sent.map(({ sourceNetworkId, emitter, sequence, recipient }) =>
    line(`${sourceNetworkId}/${emitter}/${sequence}`, source, target, 'burn', recipient),
  )
}

/** Sends a message that pays for its delivery, at the price that the running Portage process quotes. */
const request: Send = async (source, target, { count }) => {
  const [from, to] = both('Executor', source.executor, target.executor)
  const lines: string[] = []
  for (let index = 0; index < count; index++) {
    const asked = requestDelivery(from.provider, from, to, { payload: hexlify(randomBytes(32)) })
    const { transaction } = await asked.catch((cause: unknown) => {
      const detail = 'Portage quotes the price, so Portage must be running: npm run portage -- run --role all.'
      throw new Error(`The provider ${from.provider} did not quote a price. ${detail}`, { cause })
    })
    const { sequence } = placeOfRequest(source.name, from.executor, transaction)
    const place = `${source.wormholeChainId}/${toUniversal(from.executor)}/${sequence}`
    lines.push(line(place, source, target, 'request', to.receiver))
  }
  return lines
}

const sends: Readonly<Record<string, Send>> = { native, ntt, burn, request }

/** The function for this `--kind`. Undefined for transfers of the token bridge and for unknown kinds. */
export function sendOf(kind: string): Send | undefined {
  return Object.hasOwn(sends, kind) ? sends[kind] : undefined
}

function both<T>(name: string, source: T | undefined, target: T | undefined): [T, T] {
  if (source && target) return [source, target]
  throw new Error(`This devnet has no ${name}`)
}

function many<T>(count: number, one: T): T[] {
  return Array.from({ length: count }, () => one)
}
