import type { BridgeName, ChainName } from '../../domain/transfer/transfer.ts'
import { shownBy } from '../kit/signed-messages.ts'
import type { DeliveredView, Plugin, Route } from '../kit/plugin.ts'

export const receivers = 'receivers' satisfies BridgeName

/** Addresses are 0x, lower case. */
export interface ReceiverRoute {
  readonly source: ChainName
  readonly emitter: string
  readonly where: Readonly<Record<string, string>>
  readonly target: ChainName
  readonly contract: string
  /** `name(bytes)`: the argument is the signed message. */
  readonly function: string
  readonly delivered: DeliveredView
  /** Coins of each call, wei. `value`: default `atMost`. */
  readonly coins?: { readonly atMost: string; readonly value?: string | undefined } | undefined
}

export function createReceivers(configured: readonly ReceiverRoute[]): Plugin<ReceiverRoute> {
  const routes = new Map<Route, ReceiverRoute>(
    configured.map((route) => {
      const { source, emitter, where, target: to, contract, delivered } = route
      const coins = route.coins && { atMost: route.coins.atMost, delivered }
      return [{ from: [{ source, emitter }], where, to, calls: [{ contract, function: route.function, proof: 'message', coins }] }, route]
    }),
  )
  return {
    name: receivers,
    routes: [...routes.keys()],
    decode: (_, route) => routes.get(route),
    stages: {
      deliver: {
        call({ bytes, content: { contract, function: signature, coins } }) {
          return { contract, function: signature, args: [bytes], value: coins?.value ?? coins?.atMost ?? '0' }
        },
        // The contract may do anything in a second call.
        revertsOnceDone: false,
      },
    },
    delivered: ({ content, ...message }) => [shownBy(message, content.contract, content.delivered)],
    parties: ({ emitterChain, emitter, content }) => ({ recipient: content.contract, token: `${emitterChain}/${emitter}` }),
  }
}
