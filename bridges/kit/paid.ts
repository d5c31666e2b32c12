import type { TransferContent } from '../../domain/transfer/content.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { Endpoint } from '../port.ts'

/** Where a request was logged that pays for a delivery. */
export interface PaidPlace {
  readonly source: ChainName
  readonly target: ChainName
  readonly height: number
  readonly logIndex: number
  /** 0x, lower case. */
  readonly txHash: string
}

/** A product that delivers what requests of another bridge pay for. Its transfers start no workflows. */
export interface PaidProduct<Asked> {
  readonly endpoints: ReadonlyMap<ChainName, Endpoint>
  /**
   * The transfers of the request's transaction that it asks for, as most nodes of the source show them in a final
   * block: not attested. Empty: there are none. Throws PLACE_NOT_FINAL, TARGET_CHAIN_UNSUPPORTED, read errors.
   */
  transfersOf(place: PaidPlace, asked: Asked): Promise<readonly Transfer[]>
  /** Whether the request asks for this transfer, whose message is attested. Throws what `transfersOf` throws. */
  isAskedFor(place: PaidPlace, asked: Asked, transfer: Transfer): Promise<boolean>
  /** Of an attested message. Throws what the product's `decode` throws. */
  decode(message: Uint8Array): Transfer
  content(message: Uint8Array): Partial<TransferContent>
}
