import { decodeBase64, Interface, toBeHex } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { At } from '../../chains/port.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { decodeBytesCall, encodeBytesCall, selectorOf } from '../kit/bytes-call.ts'
import { type ContractReader, read } from '../kit/contract-reader.ts'
import { digestOf } from '../kit/guardian-sets.ts'
import { demandSame, signedRefusals as refusals } from '../kit/signed-messages.ts'
import { provedBy, toVerdict, unproved } from '../kit/verdict.ts'
import type { Endpoint } from '../port.ts'
import { allCalls, type DeliveredView, type ReceiverRoute, receivers, routeOf } from './receivers.ts'

export interface ReceiversEndpointOptions {
  readonly chain: Pick<EvmChain, 'name' | 'call'>
  readonly routes: readonly ReceiverRoute[]
  readonly verify: (message: Uint8Array) => Promise<void>
}

/** A message without a route is declined, because the config may name a route for it later. */
const policy = { ...refusals, PAYLOAD_KIND: { kind: 'declined' } } as const

export function createEvmEndpoint({ chain, routes, verify }: ReceiversEndpointOptions): Endpoint {
  const own = routes.filter(({ targetChain }) => targetChain === chain.name)
  const views = new Map(own.map((route) => [route, createView(chain, route.delivered)]))

  function routeTo(bytes: Uint8Array): ReceiverRoute {
    const vaa = parseVaa(bytes)
    const route = routeOf(routes, vaa)
    if (route?.targetChain === chain.name) return route
    throw new RelayerError('PAYLOAD_KIND', { facts: { chain: chain.name, emitterChain: vaa.emitterChain, emitter: vaa.emitter } })
  }

  async function check(transfer: Transfer): Promise<void> {
    const bytes = decodeBase64(transfer.message)
    const vaa = parseVaa(bytes)
    demandSame(transfer, { vaa, digest: digestOf(vaa) })
    routeTo(bytes)
    await verify(bytes)
  }

  return {
    chain: chain.name,
    verify: (message) => toVerdict(verify(message), refusals),
    validate: (transfer) => toVerdict(check(transfer), policy),
    /** False for a message whose route is no longer in the config. */
    async delivered(transfer, at) {
      const route = routeOf(routes, parseVaa(decodeBase64(transfer.message)))
      return (route && (await views.get(route)?.(transfer, at))) ?? false
    },
    // A view shows that a message was delivered, but not by whom.
    findDelivery: async () => undefined,
    delivery(transfer) {
      const bytes = decodeBase64(transfer.message)
      const route = routeTo(bytes)
      const { contract } = route
      return {
        call: async () => ({ to: contract, data: encodeBytesCall(selectorOf(route.function), bytes), value: '0' }),
        parties: { bridge: receivers, targetChain: chain.name, recipient: contract, token: `${transfer.sourceId}/${transfer.emitter}` },
        // The contract may do anything when it is called a second time.
        revertsOnceDelivered: false,
      }
    },
    calls: allCalls(own),
    async proveCall({ to, data, value }: Intent): Promise<void> {
      const [contract, selector] = [to.toLowerCase(), data.slice(0, 10).toLowerCase()]
      const bytes = decodeBytesCall(data)
      if (value !== '0') throw unproved('It carries coins.', { to, value })
      if (!bytes) throw unproved('It is no exactly encoded call with one VAA.', { to, selector })
      const proof = async () => {
        const route = routeTo(bytes)
        await verify(bytes)
        return route
      }
      const route = await provedBy(proof, refusals)
      if (contract === route.contract && selector === selectorOf(route.function)) return
      throw unproved('It is not the call of the route of this message.', { to, selector })
    },
    explainRevert: ({ reason }) => ({ kind: 'unknown', code: 'DELIVERY_REVERTED', reason }),
    // Receivers share no event, so only the view of `delivered` shows an effect.
    hasEffect: ({ status }) => (status === 'success' ? undefined : false),
  }
}

type Identity = Pick<Transfer, 'digest' | 'emitter' | 'sourceId' | 'sequence'>

export function createView(chain: ContractReader, { contract: to, view, args, is }: DeliveredView) {
  const [method = '', types = ''] = view.replace(')', '').split('(')
  const inputs = types === '' ? [] : types.split(',').map((type) => ({ type }))
  // Not as Solidity text, in which some names of functions have a meaning.
  const abi = new Interface([{ type: 'function', name: method, inputs, outputs: [{ type: 'bytes32' }], stateMutability: 'view' }])
  const expected = wordOf(is)
  return async (transfer: Identity, at: At): Promise<boolean> => {
    const [answer] = await read(chain, { abi, to, method, args: args.map((arg) => valueOf(arg, transfer)), at })
    return String(answer).toLowerCase() === expected
  }
}

function valueOf(arg: string, { digest, emitter, sourceId, sequence }: Identity): string | boolean {
  const values: Readonly<Record<string, string>> = {
    $digest: digest,
    $emitter: `0x${emitter}`,
    $emitterChain: sourceId,
    $sequence: sequence,
  }
  if (Object.hasOwn(values, arg)) return values[arg] ?? ''
  // ethers takes every text for true.
  return arg === 'true' || arg === 'false' ? arg === 'true' : arg
}

function wordOf(is: string): string {
  return toBeHex(is === 'true' ? 1n : is === 'false' ? 0n : BigInt(is), 32)
}
