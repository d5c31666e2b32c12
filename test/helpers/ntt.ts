import { concat, dataLength, toBeHex } from 'ethers'

export interface NttFields {
  /** Prefix of the transceiver message. Default: Wormhole's 0x9945ff10. */
  readonly prefix: string
  /** All addresses of NTT messages are 64 hex digits. */
  readonly sourceManager: string
  readonly recipientManager: string
  readonly id: bigint
  readonly sender: string
  readonly transferPrefix: string
  readonly amount: bigint
  readonly decimals: number
  readonly token: string
  readonly to: string
  readonly toChain: number
  /** Additional payload, 0x hex. If it is undefined, its length is omitted too. */
  readonly additional: string | undefined
  readonly transceiverPayload: string
}

function sized(part: string): string {
  return concat([toBeHex(dataLength(part), 2), part])
}

/** The bytes that an NttManager hashes, 0x hex: id, sender and transfer. */
export function managerMessage(fields: Partial<NttFields> = {}): string {
  const { id = 7n, sender = '44'.repeat(32), transferPrefix = '0x994e5454', amount = 100_000_000n, decimals = 8 } = fields
  const { token = '55'.repeat(32), to = `${'00'.repeat(12)}${'66'.repeat(20)}`, toChain = 4, additional } = fields
  const transfer = [transferPrefix, toBeHex(decimals, 1), toBeHex(amount, 8), `0x${token}`, `0x${to}`, toBeHex(toChain, 2)]
  return concat([toBeHex(id, 32), `0x${sender}`, sized(concat([...transfer, additional === undefined ? '0x' : sized(additional)]))])
}

/** The payload of the VAA that carries a manager's message, 0x hex. */
export function nttPayload(fields: Partial<NttFields> = {}): string {
  const { prefix = '0x9945ff10', transceiverPayload = '0x' } = fields
  const { sourceManager = `${'00'.repeat(12)}${'77'.repeat(20)}`, recipientManager = `${'00'.repeat(12)}${'88'.repeat(20)}` } = fields
  return concat([prefix, `0x${sourceManager}`, `0x${recipientManager}`, sized(managerMessage(fields)), sized(transceiverPayload)])
}
