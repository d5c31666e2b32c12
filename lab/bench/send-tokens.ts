import type { Devnet } from '../devnet/index.ts'
import { devnetTokenFeeWei } from '../devnet/relayer-config.ts'
import type { SentTransfer, UserTransfer } from '../devnet/wormhole/users.ts'

/** Number of transfers that a user sends together. They fit into one or two blocks of the source. */
const burst = 200

/** Sends transfers of tokens over Wormhole from ethereum. Each pays the relayer's fee. */
export async function sendTokens(devnet: Devnet, count: number): Promise<SentTransfer[]> {
  const transfer: UserTransfer = { kind: 'token', amount: 10n ** 16n, fee: devnetTokenFeeWei }
  const sent: SentTransfer[] = []
  for (let left = count; left > 0; left -= burst)
    sent.push(...(await devnet.users.ethereum.send(Array.from({ length: Math.min(burst, left) }, () => transfer))))
  return sent
}
