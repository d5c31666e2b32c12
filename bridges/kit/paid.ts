import type { TransferContent } from '../../domain/transfer/content.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { Endpoint } from '../port.ts'

/** The place where a request was logged that pays for a delivery. */
export interface PaidPlace {
  readonly source: ChainName
  readonly target: ChainName
  readonly height: number
  readonly logIndex: number
  /** 0x, lower case. */
  readonly txHash: string
}

/**
 * A product that delivers transfers that requests of another bridge pay for. Its transfers start no workflows of their
 * own.
 */
export interface PaidProduct<Asked> {
  readonly endpoints: ReadonlyMap<ChainName, Endpoint>
  /**
   * Returns the transfers of the request's transaction that the request asks for. Most nodes of the source must show
   * them in a final block. They are not attested. Empty if there are none. Throws PLACE_NOT_FINAL,
   * TARGET_CHAIN_UNSUPPORTED and read errors.
   */
  transfersOf(place: PaidPlace, asked: Asked): Promise<readonly Transfer[]>
  /** Whether the request asks for this transfer, whose message is attested. Throws the errors of `transfersOf`. */
  isAskedFor(place: PaidPlace, asked: Asked, transfer: Transfer): Promise<boolean>
  /** Whether the drop-off of a request goes with this transfer: one of those that it asks for, in any order. */
  paysDropOff(transfer: Transfer): boolean
  /** Decodes an attested message. Throws the errors of the product's `decode`. */
  decode(message: Uint8Array): Transfer
  content(message: Uint8Array): Partial<TransferContent>
}
