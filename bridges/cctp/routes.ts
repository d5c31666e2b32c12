import { encodeBase64, keccak256 } from 'ethers'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { TransferContent } from '../../domain/transfer/content.ts'
import type { BridgeName, ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { demandSize } from '../kit/demands.ts'
import type { Bridge } from '../port.ts'
import { readCarried } from './carried.ts'
import { addressOf, type Burn, type CctpMessage, type CctpVersion, loggedBytes, readBurn, readMessage } from './message.ts'

export const cctp = 'cctp' satisfies BridgeName

export interface CctpContracts {
  /** 0x address, lower case. */
  readonly transmitter: string
  /** 32 bytes, 0x, lower case. */
  readonly tokenMessenger: string
}

export interface CctpChain {
  readonly chain: ChainName
  readonly networkId: string
  /** Circle's number for the chain. */
  readonly domain: number
  readonly contracts: Partial<Readonly<Record<CctpVersion, CctpContracts>>>
}

export interface CctpRoute {
  readonly source: CctpChain
  readonly target: CctpChain
  readonly from: CctpContracts
  readonly to: CctpContracts
}

export type CctpRoutes = ReturnType<typeof createRoutes>

/**
 * `all` burns, or the burns by `senders` and the burns for `recipients` (32 bytes, 0x, lower case). With `paid`, the
 * burns that are in neither list.
 */
export type DeliveredBurns = 'all' | { readonly senders: readonly string[]; readonly recipients: readonly string[]; readonly paid?: true }

function isDelivered({ sender, mintRecipient }: Burn, burns: DeliveredBurns): boolean {
  if (burns === 'all') return true
  const isListed = burns.senders.includes(sender) || burns.recipients.includes(mintRecipient)
  return burns.paid ? !isListed : isListed
}

export function createRoutes(chains: readonly CctpChain[], burns: DeliveredBurns = 'all') {
  const byDomain = new Map(chains.map((chain) => [chain.domain, chain]))
  return {
    /** Throws TARGET_CHAIN_UNSUPPORTED, PAYLOAD_KIND (not a burn), CCTP_MESSAGE (a malformed burn), CCTP_UNPAID. */
    of(message: CctpMessage): CctpRoute {
      const { version, sourceDomain, destinationDomain, sender, recipient } = message
      const [source, target] = [byDomain.get(sourceDomain), byDomain.get(destinationDomain)]
      const [from, to] = [source?.contracts[version], target?.contracts[version]]
      const facts = { version, sourceDomain, destinationDomain }
      if (!target || !to) throw new RelayerError('TARGET_CHAIN_UNSUPPORTED', { facts })
      if (!source || sender !== from?.tokenMessenger || recipient !== to.tokenMessenger)
        throw new RelayerError('PAYLOAD_KIND', {
          detail: 'It is not a burn by a TokenMessenger of the config.',
          facts: { ...facts, sender, recipient },
        })
      const burn = readBurn(message)
      if (!isDelivered(burn, burns))
        throw new RelayerError('CCTP_UNPAID', { facts: { sender: burn.sender, recipient: burn.mintRecipient } })
      return { source, target, from, to }
    },
  }
}

/** Makes `Bridge.decode`. Throws CCTP_MESSAGE, MESSAGE_TOO_LARGE and the errors of `CctpRoutes.of`. */
export function createDecode(routes: CctpRoutes): Bridge['decode'] {
  return function decode(message): Transfer {
    const { number, bytes } = readCarried(message)
    const { source, target, from } = routes.of(readMessage(bytes))
    demandSize(message)
    return {
      bridge: cctp,
      sourceChain: source.chain,
      sourceId: source.networkId,
      targetChain: target.chain,
      emitter: from.transmitter.slice(2).padStart(64, '0'),
      sequence: number,
      // The digest is the same before and after the attestation.
      digest: keccak256(loggedBytes(bytes)),
      message: encodeBase64(message),
    }
  }
}

/** The amount is what the recipient gets, without Circle's fee. */
export function contentOf(bytes: Uint8Array, { source }: CctpRoute): TransferContent {
  const { token, mintRecipient, amount, feeExecuted } = readBurn(readMessage(bytes))
  return { amount: String(amount - feeExecuted), token: `${source.networkId}/${token.slice(2)}`, recipient: addressOf(mintRecipient) }
}
