import { groupBy } from '../../domain/group-by.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { parseVaa, toHex, type Vaa } from '../../domain/vaa.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import { selectorOf } from './bytes-call.ts'
import { decodeCall, encodedAnswer, readView, shows } from './calls.ts'
import type { ContractReader } from './contract-reader.ts'
import { type MessageIdentity, shownBy } from './delivered-view.ts'
import { digestOf } from './guardian-sets.ts'
import type { CallRule, Route, Shown } from './plugin.ts'
import { type ChainNames, signedRefusals, sourceName } from './signed-messages.ts'
import { provedBy, unproved } from './verdict.ts'

/** The route that owns a message. */
export function findRoute(routes: readonly Route[], { emitterChain, emitter, payload }: Vaa, chainNames: ChainNames): Route | undefined {
  const source = sourceName(chainNames, emitterChain)
  return routes.find(({ from, where = {} }) => {
    if (from !== 'accepted' && !from.some((one) => one.emitter === emitter && one.source === source)) return false
    return Object.entries(where).every(([offset, bytes]) => {
      const start = Number(offset)
      return toHex(payload.subarray(start, start + bytes.length / 2)) === bytes
    })
  })
}

/** Throws PAYLOAD_KIND for a message of no route. */
export function routeOf(routes: readonly Route[], vaa: Vaa, chainNames: ChainNames): Route {
  const route = findRoute(routes, vaa, chainNames)
  if (route) return route
  const { emitterChain, emitter } = vaa
  throw new RelayerError('PAYLOAD_KIND', { facts: { emitterChain, emitter } })
}

export function callsOf(routes: readonly Route[]): Readonly<Record<string, readonly string[]>> {
  const contracts = groupBy(
    routes.flatMap(({ calls }) => calls),
    ({ contract }) => contract,
  )
  return Object.fromEntries([...contracts].map(([contract, own]) => [contract, [...new Set(own.map((rule) => selectorOf(rule.function)))]]))
}

/** Checks that the target's contract accepts the emitter of a message. An acceptance is remembered. */
export function createAcceptance(chain: ContractReader) {
  // A cached lie would last as long as the process, so most nodes are read.
  const accepted = keptReads(async (key: string) => shows(chain, JSON.parse(key) as Shown, 'majority-latest'), {
    lasting: (answer) => answer,
  })
  /** Throws EMITTER_UNKNOWN, read errors. */
  return async function demandAccepted({ accepts }: Route, message: MessageIdentity): Promise<void> {
    if (!accepts) return
    const shown = shownBy(message, accepts.contract, accepts)
    if ((await accepted.get(JSON.stringify(shown))) || (await shows(chain, shown, 'agreed-latest'))) return
    const { emitterChain, emitter } = message
    const detail = `${accepts.contract} of ${chain.name} does not accept it.`
    throw new RelayerError('EMITTER_UNKNOWN', { detail, facts: { emitterChain, emitter } })
  }
}

export type DemandAccepted = ReturnType<typeof createAcceptance>

interface ProofOptions {
  readonly chain: ContractReader
  /** Of all chains, because the first route of a message owns it. */
  readonly routes: readonly Route[]
  readonly chainNames: ChainNames
  readonly verify: (message: Uint8Array) => Promise<void>
  readonly demandAccepted?: DemandAccepted
}

/** See `Endpoint.proveCall`. Runs no code of the product: the rules of its routes suffice. */
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
      const vaa = parseVaa(bytes)
      const route = routeOf(routes, vaa, chainNames)
      await verify(bytes)
      if (route.to !== chain.name || !route.calls.some(isCall))
        throw unproved('It is not the call of the route of this message.', { to, selector })
      await demandAccepted(route, { ...vaa, digest: digestOf(vaa) })
      return [sourceName(chainNames, vaa.emitterChain)]
    }
    return provedBy(proof, signedRefusals)
  }
}

function sourcesOf(routes: readonly Route[], chainNames: ChainNames): readonly ChainName[] {
  const sources = routes.flatMap(({ from }) => (from === 'accepted' ? [...chainNames.values()] : from.map(({ source }) => source)))
  return [...new Set(sources)]
}

/** Anyone may send such a call, so a call that succeeds does what the contract allows. It must also have a reason. */
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
