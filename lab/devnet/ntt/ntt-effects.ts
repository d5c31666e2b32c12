import { Interface } from 'ethers'
import { Script } from '../chain/contracts.ts'
import { managerAbi, type NttEnd, transceiverAbi } from './ntt-contracts.ts'

const erc20 = new Interface(['function balanceOf(address owner) view returns (uint256)'])

/** A transfer above the inbound limit. Anyone may complete it `rateLimitSeconds` after `since` (seconds). */
export interface QueuedTransfer {
  readonly amount: bigint
  /** Decimals of `amount`, at most 8. */
  readonly decimals: number
  readonly since: number
  readonly recipient: string
}

/** Reads the state of a token's NTT contracts on one chain, at the latest block. `digest`: of the manager's message. */
export interface NttEffects {
  isVaaConsumed(vaaDigest: string, transceiver?: number): Promise<boolean>
  attestations(digest: string): Promise<number>
  /** True also for a queued transfer, both before and after its completion. */
  isMessageExecuted(digest: string): Promise<boolean>
  queued(digest: string): Promise<QueuedTransfer | undefined>
  balanceOf(owner: string): Promise<bigint>
}

export function nttEffects({ anvil, token, manager, transceivers }: NttEnd): NttEffects {
  const read = async (to: string, abi: Interface, view: string, args: readonly unknown[]): Promise<unknown> => {
    const answer = await anvil.rpc<string>('eth_call', [{ to, data: abi.encodeFunctionData(view, args) }, 'latest'])
    return abi.decodeFunctionResult(view, answer)[0]
  }
  return {
    isVaaConsumed: async (vaaDigest, transceiver = 0) =>
      Boolean(await read(transceivers[transceiver] ?? '', transceiverAbi, 'isVAAConsumed', [vaaDigest])),
    attestations: async (digest) => Number(await read(manager, managerAbi, 'messageAttestations', [digest])),
    isMessageExecuted: async (digest) => Boolean(await read(manager, managerAbi, 'isMessageExecuted', [digest])),
    async queued(digest) {
      const answer = await read(manager, managerAbi, 'getInboundQueuedTransfer', [digest])
      const [packed, since, recipient] = answer as [bigint, bigint, string]
      if (since === 0n) return undefined
      return { amount: packed >> 8n, decimals: Number(packed & 0xffn), since: Number(since), recipient: recipient.toLowerCase() }
    },
    balanceOf: async (owner) => BigInt(String(await read(token, erc20, 'balanceOf', [owner]))),
  }
}

/** Calls that only the manager's owner may make. Limits are in the smallest unit of the end's token. */
export type NttOrder = 'pause' | 'unpause' | 'setInboundLimit' | 'setOutboundLimit' | 'setThreshold' | 'removeTransceiver'

export async function orderNtt({ anvil, deployer, manager }: NttEnd, order: NttOrder, ...args: readonly unknown[]): Promise<void> {
  const script = await Script.of(anvil, deployer)
  script.call(manager, managerAbi, order, args)
  await script.mine()
}
