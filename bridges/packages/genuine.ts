import { decodeBase64 } from 'ethers'
import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { unless } from '../kit/contract-reader.ts'
import type { Plugin } from '../kit/plugin.ts'
import { digestOf, signedRefusals, type Verify } from '../kit/signed-messages.ts'
import type { Endpoint, NextStage } from '../port.ts'
import { failed } from './guard.ts'

const mostRemembered = 20_000

/**
 * Digests of messages that guardians signed, or that logs of their source show. Plug-ins are asked only about these
 * messages.
 */
export function createGenuineMessages() {
  const digests = new LRUCache<string, true>({ max: mostRemembered })
  const add = (digest: string) => void digests.set(digest, true)

  return {
    add,

    /**
     * Wraps `verify`, and remembers each message that passes as genuine. A message whose signatures are only too old is
     * remembered, too, but the error is thrown.
     */
    adding: (verify: Verify): Verify => {
      return async (message, vaa = parseVaa(message)) => {
        try {
          await verify(message, vaa)
        } catch (error) {
          if (error instanceof RelayerError && isExpired(error)) add(digestOf(vaa))
          throw error
        }
        add(digestOf(vaa))
      }
    },

    /** Only `decode` checks the message, because the other functions get only messages that `decode` has read. */
    only: <C>(plugin: Plugin<C>): Plugin<C> => ({
      ...plugin,
      decode(message, route) {
        if (digests.get(message.digest)) return plugin.decode(message, route)
        throw failed(plugin.name, 'it is not asked about a message whose signatures this process has not verified')
      },
    }),

    /**
     * Returns an endpoint that verifies each message before it asks the plug-in. `verify` must be a result of `adding`.
     */
    verifyFirst(endpoint: Endpoint, verify: Verify): Endpoint {
      const { stages } = endpoint
      async function demandSigned({ message }: Pick<Transfer, 'message'>): Promise<void> {
        const bytes = decodeBase64(message)
        const vaa = parseVaa(bytes)
        if (!digests.get(digestOf(vaa))) await unless(verify(bytes, vaa), isExpired)
      }
      const isSigned = async (transfer: Transfer) => {
        const signed = demandSigned(transfer).then(() => true)
        return (await unless(signed, isRefused)) ?? false
      }
      return {
        ...endpoint,
        demandSigned,
        delivered: async (transfer, at) => (await isSigned(transfer)) && endpoint.delivered(transfer, at),
        mayShow: async (transfer) => (await isSigned(transfer)) && ((await endpoint.mayShow?.(transfer)) ?? true),
        ...(stages && {
          stages: {
            ...stages,
            // For an endpoint with `stages`, the answer of `next` is never undefined.
            next: (transfer, isDoubted) => demandSigned(transfer).then(() => stages.next(transfer, isDoubted) as Promise<NextStage>),
            passed: async (transfer, stage, at) => (await isSigned(transfer)) && stages.passed(transfer, stage, at),
          },
        }),
      }
    },
  }
}

function isExpired({ code }: RelayerError): boolean {
  return code === 'GUARDIAN_SET_EXPIRED'
}

/**
 * Whether the message is refused. An unknown guardian set says nothing about the message, because the target may not
 * know the set yet.
 */
function isRefused({ code }: RelayerError): boolean {
  return Object.hasOwn(signedRefusals, code) && code !== 'GUARDIAN_SET_UNKNOWN'
}
