import { groupBy } from '../../domain/group-by.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { toHex } from '../../domain/vaa.ts'
import { decodeCall, encodedAnswer, readView, selectorOf } from './calls.ts'
import type { ContractReader } from './contract-reader.ts'
import type { CallRule, Route, SignedMessage } from './plugin.ts'
import { type ChainNames, createAcceptance, type DemandAccepted, readSigned, signedRefusals, type Verify } from './signed-messages.ts'
import { provedBy, unproved } from './verdict.ts'

/** A message belongs to the first route that fits. */
export function findRoute(routes: readonly Route[], { source, emitter, payload }: SignedMessage): Route | undefined {
  return routes.find(({ from, where = {} }) => {
    if (from !== 'accepted' && !from.some((one) => one.emitter === emitter && one.source === source)) return false
    return Object.entries(where).every(([offset, bytes]) => {
      const start = Number(offset)
      return toHex(payload.subarray(start, start + bytes.length / 2)) === bytes
    })
  })
}

export function routeOf(routes: readonly Route[], signed: SignedMessage): Route {
  const route = findRoute(routes, signed)
  if (route) return route
  const { emitterChain, emitter } = signed
  throw new RelayerError('PAYLOAD_KIND', { facts: { emitterChain, emitter } })
}

export function callsOf(routes: readonly Route[]): Readonly<Record<string, readonly string[]>> {
  const contracts = groupBy(
    routes.flatMap(({ calls }) => calls),
    ({ contract }) => contract,
  )
  return Object.fromEntries([...contracts].map(([contract, own]) => [contract, [...new Set(own.map((rule) => selectorOf(rule.function)))]]))
}

interface ProofOptions {
  readonly chain: ContractReader
  /** Includes routes to all chains, because the first route that fits a message owns it. */
  readonly routes: readonly Route[]
  readonly chainNames: ChainNames
  readonly verify: Verify
  readonly demandAccepted?: DemandAccepted
}

/** Makes `Endpoint.proveCall` from the rules of the routes, without running the product's code. */
export function createProveCall({ chain, routes, chainNames, verify, demandAccepted = createAcceptance(chain) }: ProofOptions) {
  const own = routes.filter(({ to }) => to === chain.name).flatMap(({ calls }) => calls)
  return async function proveCall({ to, data, value }: Intent): Promise<readonly ChainName[]> {
    const [contract, selector] = [to.toLowerCase(), data.slice(0, 10).toLowerCase()]
    const isCall = (rule: CallRule) => rule.contract === contract && selectorOf(rule.function) === selector
    const rule = own.find(isCall)
    if (value !== '0') throw unproved('It carries coins.', { to, value })
    if (!rule) throw unproved('No route has this call.', { to, selector })
    const [argument] = decodeCall(rule.function, data) ?? []
    if (argument === undefined) throw unproved('It is not exactly encoded.', { to, selector })
    if (rule.proof !== 'message') {
      await proveState(chain, rule.proof, argument, { to, data })
      return sourcesOf(
        routes.filter((route) => route.to === chain.name && route.calls.some(isCall)),
        chainNames,
      )
    }
    const bytes = argument as Uint8Array
    const proof = async () => {
      const { vaa, signed } = readSigned(bytes, chainNames)
      const route = routeOf(routes, signed)
      await verify(bytes, vaa)
      if (route.to !== chain.name || !route.calls.some(isCall))
        throw unproved('It is not the call of the route of this message.', { to, selector })
      await demandAccepted(route, signed)
      return [signed.source]
    }
    return provedBy(proof, signedRefusals)
  }
}

function sourcesOf(routes: readonly Route[], chainNames: ChainNames): readonly ChainName[] {
  const sources = routes.flatMap(({ from }) => (from === 'accepted' ? [...chainNames.values()] : from.map(({ source }) => source)))
  return [...new Set(sources)]
}

/**
 * Proves a call without a message: the call must succeed, and a view must show a reason for the call. Anyone may send
 * such a call, so the contract limits its effect.
 */
async function proveState(
  chain: ContractReader,
  { view, returns, isNot }: Exclude<CallRule['proof'], 'message'>,
  argument: unknown,
  { to, data }: Pick<Intent, 'to' | 'data'>,
): Promise<void> {
  const answer = await readView(chain, { contract: to, view, args: [argument], returns }, 'majority-latest')
  const selector = data.slice(0, 10)
  if (encodedAnswer(view, returns, answer) === encodedAnswer(view, returns, isNot))
    throw unproved(`${view} shows no reason for it.`, { to, selector })
  try {
    await chain.call(to, data, 'majority-latest')
  } catch (error) {
    const { code, message } = toRelayerError(error)
    if (code !== 'NODE_REFUSED') throw error
    throw unproved(`It reverts on most nodes: ${message}`, { to, selector }, error)
  }
}
