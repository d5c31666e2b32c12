import type { TransferContent } from '../../domain/transfer/content.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { Endpoint } from '../port.ts'

export interface PaidPlace {
  readonly source: ChainName
  readonly target: ChainName
  readonly height: number
  readonly logIndex: number
  /** 0x, lower case. */
  readonly txHash: string
}

/** A product whose transfers are delivered only by paid requests of another bridge. */
export interface PaidProduct<Asked> {
  readonly endpoints: ReadonlyMap<ChainName, Endpoint>
  /**
   * Returns the transfers that a request pays for, without attestations. Throws PLACE_NOT_FINAL,
   * TARGET_CHAIN_UNSUPPORTED and read errors.
   */
  transfersOf(place: PaidPlace, asked: Asked): Promise<readonly Transfer[]>
  /** Whether the request pays for `transfer`, which is attested. Throws the errors of `transfersOf`. */
  isAskedFor(place: PaidPlace, asked: Asked, transfer: Transfer): Promise<boolean>
  /** Whether the delivery of `transfer` pays the drop-off. Does not depend on the order of the request's transfers. */
  paysDropOff(transfer: Transfer): boolean
  decode(message: Uint8Array): Transfer
  content(message: Uint8Array): Partial<TransferContent>
}
