import type { At } from '../../chains/port.ts'
import { isPluginFailure, RelayerError } from '../../domain/catalogue/errors.ts'
import type { CallPlan, ViewCall } from '../../domain/transfer/call-plan.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { decodeBase64, hexlify } from 'ethers'
import { callsOf, createProveCall, encodeCall, encodeMessageCall, paidCallsOf, restOf } from '../kit/calls.ts'
import { type ContractReader, unless } from '../kit/contract-reader.ts'
import type { Message, Plugin, Policy, Route } from '../kit/plugin.ts'
import { createPluginEndpoint, type PluginEndpointOptions, type PluginMessages, toTransfer } from '../kit/plugin-bridge.ts'
import type { Decode } from '../kit/published.ts'
import { type ChainNames, createProve, readRouted, signedRefusals, type Verify } from '../kit/signed-messages.ts'
import { toVerdict } from '../kit/verdict.ts'
import { encodeView } from '../kit/views.ts'
import type { Endpoint, Verdict } from '../port.ts'

/**
 * The endpoint of a process that runs the plug-in. This endpoint also plans calls for processes that do not run the
 * plug-in.
 */
export function createPackageEndpoint<C>(plugin: Plugin<C>, messages: PluginMessages<C>, options: PluginEndpointOptions): Endpoint {
  const { policy, earned, retry, ...product } = plugin
  const endpoint = createPluginEndpoint(product, messages, options)
  const { stages } = endpoint
  const { chain, chainNames, verify } = options
  const messageOf = ({ message }: Transfer) => messages.read(message).message
  const plan = (transfer: Transfer, stage?: string) => planOf(plugin, messageOf(transfer), stage)
  return {
    ...endpoint,
    plan,
    ...(retry && { retry: ({ digest }: Transfer, orderedAt: number | undefined) => retry(digest, orderedAt) }),
    // If the plug-in fails, the transfer starts anyway, and waits for the plug-in.
    accept: async (message) => void (await unless(Promise.resolve(endpoint.accept?.(message)), isPluginFailure)),
    // `product` is absent, so that no code of the plug-in runs.
    proveCall: createProveCall({ chain, chainNames, routes: plugin.routes, prove: createProve(chain, verify) }),
    delivery(transfer, stage) {
      const { parties, ...delivery } = endpoint.delivery(transfer, stage)
      const planned = plan(transfer, stage)
      const { to, value = '0' } = planned
      return {
        ...delivery,
        intent: callOf(planned, transfer.message),
        parties: { ...parties, bytes: bytesOf(to, transfer.message) },
        ...(earned && { earned: async () => earned(messageOf(transfer)) - BigInt(value) }),
      }
    },
    async validate(transfer) {
      const verdict = await waitIfFailed(() => endpoint.validate(transfer), true)
      // If the plug-in cannot plan the call, the transfer waits. The verdict has no `delivery`, because that delivery
      // would lack `bytes`.
      if (verdict.kind !== 'valid') return verdict
      return waitIfFailed(async () => {
        plan(transfer)
        return policy ? verdictOf(policy(messageOf(transfer))) : { kind: 'valid' }
      })
    },
    ...(stages && {
      stages: {
        ...stages,
        next(transfer: Transfer, isDoubted) {
          const asked = stages.next(transfer, isDoubted)
          if (!asked) return undefined
          return waitIfFailed(async () => {
            const next = await asked
            if (next.kind === 'stage') plan(transfer, next.stage)
            return next
          })
        },
      },
    }),
  }
}

function verdictOf(answer: Policy): Verdict {
  if ('wait' in answer) return { kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: answer.wait }
  if ('decline' in answer) return { kind: 'declined', code: 'PLUGIN_DECLINED', reason: answer.decline }
  return { kind: 'valid' }
}

async function waitIfFailed<T>(ask: () => Promise<T>, unverified?: true) {
  try {
    return await ask()
  } catch (error) {
    if (!isPluginFailure(error)) throw error
    return { kind: 'wait', code: error.code, reason: error.about, ...(unverified && { unverified }) } as const
  }
}

/** Throws INPUT_INVALID for an unknown stage. */
export function planOf<C>({ stages, delivered, parties }: Plugin<C>, message: Message<C>, stage?: string): CallPlan {
  const { call, effect, revertsOnceDone } = stages[stage ?? Object.keys(stages)[0] ?? ''] ?? missing(stage)
  const { contract: to, value = 0n, ...rest } = call(message)
  const { recipient, token } = parties(message)
  const [first] = rest.args
  const further = rest.args.length - 1
  const isOfMessage = first instanceof Uint8Array && hexlify(first) === hexlify(message.bytes)
  const whole = delivered(message).map(encodeView)
  return {
    to,
    ...(isOfMessage ? { function: rest.function } : { data: encodeCall(rest) }),
    ...(isOfMessage && further > 0 && { rest: restOf(encodeCall(rest), further) }),
    ...(BigInt(value) > 0n && { value: String(value) }),
    effect: effect?.(message).map(encodeView) ?? whole,
    ...(effect && { delivered: whole }),
    ...{ recipient, token },
    ...(revertsOnceDone && { revertsOnceDone }),
  }
}

function callOf({ to, data, function: signature = '', rest, value = '0' }: CallPlan, message: string): Intent {
  return { to, data: data ?? encodeMessageCall(signature, decodeBase64(message), rest), value }
}

function bytesOf(to: string, message: string): string {
  return to.slice(2) + hexlify(decodeBase64(message)).slice(2)
}

function missing(stage = ''): never {
  throw new RelayerError('INPUT_INVALID', { detail: `The plug-in has no stage ${stage}.` })
}

/** Without the plug-in's code, every message that fits a route counts as the plug-in's. */
export function createRouteDecode(name: string, routes: readonly Route[], chainNames: ChainNames): Decode {
  return (bytes) => {
    const { signed, route } = readRouted(bytes, routes, chainNames)
    return toTransfer(name, signed, route.to)
  }
}

interface RouteEndpointOptions {
  readonly name: string
  readonly routes: readonly Route[]
  /** The error that kept the plug-in from being loaded. Absent: this process runs no code of plug-ins. */
  readonly failure?: RelayerError | undefined
  readonly chain: ContractReader
  readonly chainNames: ChainNames
  readonly verify: Verify
}

/** The endpoint of a process without the plug-in's code, which sends calls that another process planned. */
export function createRouteEndpoint({ name, failure, ...options }: RouteEndpointOptions): Endpoint {
  const { chain, verify, routes } = options
  const ofChain = routes.filter(({ to }) => to === chain.name)
  const notHere = failure ?? new RelayerError('PLUGIN_FAILED', { detail: `This process does not run ${name}.`, facts: { plugin: name } })
  const throws = () => {
    throw notHere
  }
  const own: Endpoint = {
    chain: chain.name,
    verify: (message) => toVerdict(verify(message), signedRefusals),
    validate: async () => ({ kind: 'wait', code: notHere.code, reason: notHere.about, unverified: true }),
    delivered: async () => throws(),
    findDelivery: async () => undefined,
    delivery: throws,
    calls: callsOf(ofChain),
    paidCalls: paidCallsOf(ofChain),
    proveCall: createProveCall({ ...options, prove: createProve(chain, verify) }),
    explainRevert: ({ reason }) => ({ kind: 'unknown', code: 'DELIVERY_REVERTED', reason }),
    hasEffect: ({ status }) => (status === 'success' ? undefined : false),
    planned: (plan) => ({ ...own, ...plannedParts(name, chain, plan) }),
  }
  return own
}

function plannedParts(bridge: string, chain: ContractReader, plan: CallPlan): Pick<Endpoint, 'delivered' | 'delivery' | 'stages'> {
  const { to, effect, delivered = effect, recipient, token, revertsOnceDone = false } = plan
  const show = async (views: readonly ViewCall[], at: At) =>
    (await Promise.all(views.map(async (view) => (await chain.call(view.to, view.data, at)).toLowerCase() === view.is))).every(Boolean)
  return {
    delivered: (_, at) => show(delivered, at),
    delivery: ({ message }: Transfer) => ({
      call: async () => callOf(plan, message),
      parties: { bridge, targetChain: chain.name, recipient, token, bytes: bytesOf(to, message) },
      revertsOnceDelivered: revertsOnceDone,
    }),
    stages: {
      next: async () => ({ kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: 'Another process decides which call is next.' }),
      passed: (_, __, at) => show(effect, at),
    },
  }
}
