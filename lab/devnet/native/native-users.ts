import { getAddress, keccak256, solidityPacked, Wallet, zeroPadValue } from 'ethers'
import { freshAddress } from '../chain/accounts.ts'
import type { AnvilNode } from '../chain/anvil.ts'
import { minedOf } from '../chain/mined.ts'
import { initiatedIn, nativeBridgeAbi, type InitiatedTransfer, type NativeBridgeEnd } from './native-bridge.ts'
import { until } from '../until.ts'
import { toUniversal } from '../wormhole/vaa.ts'

/** A user's transfer over the native bridge. */
export interface NativeUserTransfer {
  /** The token's smallest unit (8 decimals). */
  readonly amount: bigint
  /** Default: a fresh address. */
  readonly recipient?: string
}

/** A native transfer as its user knows it: what the checker needs. */
export interface SentNativeTransfer {
  readonly source: string
  readonly sourceNetworkId: number
  readonly target: string
  /** The source's contract as a workflow id names it: 64 lower-case hex digits. */
  readonly emitter: string
  readonly nonce: bigint
  /** bridgeTransferId: 32 bytes, 0x, lower case. */
  readonly id: string
  /** Lower-case 0x address on the source chain. */
  readonly initiator: string
  /** Lower-case 0x address on the target chain. */
  readonly recipient: string
  readonly amount: bigint
  /** The token on the target chain, lower-case 0x. */
  readonly asset: string
  readonly txHash: string
  readonly height: number
  /** Seconds. */
  readonly sentAt: number
}

/** An end as users and the owner need it: enough to send from another process than the devnet's. */
export type NativeSide = Pick<NativeBridgeEnd, 'name' | 'user' | 'bridge' | 'token' | 'deployer' | 'insuranceFund'> & {
  readonly anvil: AnvilNode
}

/** Sends users' transfers over one direction of the native bridge. */
export interface NativeUsers {
  /**
   * Sends all at once, in as few blocks as the gas limit allows. Resolves when all are mined. Throws Error if one
   * reverted or got another id than expected.
   */
  send(transfers: readonly NativeUserTransfer[]): Promise<SentNativeTransfer[]>
}

/** Above what an initiation uses (about 150,000), so that nothing is estimated; far above the base fee of a devnet. */
const paid = { type: 2, gasLimit: 250_000n, maxFeePerGas: 200_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n } as const

/** The users of one direction. They wait for the chain's own blocks and mine none. */
export function startNativeUsers(source: NativeSide, target: NativeSide): NativeUsers {
  const { rpc } = source.anvil
  const wallet = new Wallet(source.user.privateKey)
  let line: Promise<unknown> = Promise.resolve()
  return {
    async send(transfers) {
      const wanted = transfers.map(({ amount, recipient = freshAddress() }) => ({ amount, recipient: recipient.toLowerCase() }))
      // Serialized from reading the nonce to the last send, so that no two calls take the same nonces.
      const sending = line.then(() => sendAll(source, wallet, wanted))
      line = sending.catch(() => {})
      const { hashes, next } = await sending
      await until(async () => Number(await rpc<string>('eth_getTransactionCount', [wallet.address, 'latest'])) >= next, {
        timeoutMs: 120_000,
        everyMs: 100,
        what: `${wanted.length} users' native transfers to be mined on ${source.name}`,
      })
      return Promise.all(wanted.map((one, index) => outcome(source, target, one, hashes[index] ?? '')))
    },
  }
}

type Wanted = Required<NativeUserTransfer>

async function sendAll(source: NativeSide, wallet: Wallet, wanted: readonly Wanted[]): Promise<{ hashes: string[]; next: number }> {
  const { rpc, chainId } = source.anvil
  const abi = await nativeBridgeAbi()
  const first = Number(await rpc<string>('eth_getTransactionCount', [wallet.address, 'pending']))
  const hashes = await Promise.all(
    wanted.map(async ({ amount, recipient }, index) => {
      const data = abi.encodeFunctionData('initiateBridgeTransfer', [zeroPadValue(recipient, 32), amount])
      const raw = await wallet.signTransaction({ ...paid, to: source.bridge, data, chainId, nonce: first + index })
      return rpc<string>('eth_sendRawTransaction', [raw])
    }),
  )
  return { hashes, next: first + wanted.length }
}

/** Compares the contract's event with the user's request. */
async function outcome(source: NativeSide, target: NativeSide, wanted: Wanted, txHash: string): Promise<SentNativeTransfer> {
  const mined = await minedOf(source.anvil, txHash)
  const [made] = initiatedIn(mined, source.bridge, await nativeBridgeAbi())
  if (!made) throw new Error(`The user's transaction ${txHash} on ${source.name} reverted`)
  if (made.id !== idOf(source.user.address, wanted, made))
    throw new Error(`${source.name} recorded ${txHash} under an id of something else`)
  const { id, nonce, initiator, height } = made
  return {
    ...{
      source: source.name,
      sourceNetworkId: source.anvil.chainId,
      target: target.name,
      emitter: toUniversal(source.bridge),
      nonce,
      id,
      initiator,
      ...wanted,
    },
    ...{ asset: target.token, txHash, height, sentAt: mined.timestamp },
  }
}

function idOf(initiator: string, { recipient, amount }: Wanted, { nonce }: InitiatedTransfer): string {
  const fields = [getAddress(initiator), zeroPadValue(recipient, 32), amount, nonce]
  return keccak256(solidityPacked(['address', 'bytes32', 'uint256', 'uint256'], fields))
}
