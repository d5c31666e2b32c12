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

/** A product whose transfers start no workflows of their own: paid requests of another bridge deliver them. */
export interface PaidProduct<Asked> {
  readonly endpoints: ReadonlyMap<ChainName, Endpoint>
  /**
   * Returns the transfers that the request asks for, as most nodes show them in a final block of the source. The
   * returned messages have no attestations. Throws PLACE_NOT_FINAL, TARGET_CHAIN_UNSUPPORTED and read errors.
   */
  transfersOf(place: PaidPlace, asked: Asked): Promise<readonly Transfer[]>
  /** Whether the request asks for this transfer, whose message is attested. Throws the errors of `transfersOf`. */
  isAskedFor(place: PaidPlace, asked: Asked, transfer: Transfer): Promise<boolean>
  /** Whether this transfer's delivery pays the drop-off. Does not depend on the order of the request's transfers. */
  paysDropOff(transfer: Transfer): boolean
  decode(message: Uint8Array): Transfer
  content(message: Uint8Array): Partial<TransferContent>
}
