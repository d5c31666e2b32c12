import { toQuantity, ZeroAddress } from 'ethers'
import { accountIndex, devnetAccount, type DevnetAccount, freshAddress } from '../chain/accounts.ts'
import { Script } from '../chain/contracts.ts'
import { compiledArtifact } from '../chain/solidity.ts'
import type { ConfigInput } from '../relayer-config.ts'
import { toUniversal } from '../wormhole/vaa.ts'
import type { WormholeChain } from '../wormhole/wormhole.ts'

/** A chain with an Executor and the contracts of an integrator. Addresses are lower-case 0x. */
export interface ExecutorEnd {
  readonly chain: WormholeChain
  readonly executor: string
  readonly sender: string
  readonly receiver: string
  /** Contract that delivers a signed message or an NTT transfer and pays a drop-off in the same call. */
  readonly dropOff: string
  readonly record: string
  readonly payee: string
  readonly user: DevnetAccount
}

const userBalance = 10_000n * 10n ** 18n

export async function deployExecutors(chains: readonly [WormholeChain, WormholeChain]): Promise<[ExecutorEnd, ExecutorEnd]> {
  const [a, b] = await Promise.all([deployRequests(chains[0], 0), deployRequests(chains[1], 1)])
  return Promise.all([deployReceiver(a, b), deployReceiver(b, a)])
}

type Requests = Omit<ExecutorEnd, 'receiver' | 'dropOff' | 'record'>

async function deployRequests(chain: WormholeChain, position: number): Promise<Requests> {
  const user = devnetAccount(accountIndex.executorUser + position)
  await chain.anvil.rpc('anvil_setBalance', [user.address, toQuantity(userBalance)])
  const script = await Script.of(chain.anvil, chain.deployer)
  const executor = script.deploy('Executor', [chain.wormholeChainId], await compiledArtifact('Executor'))
  const sender = script.deploy('MessageSender', [chain.core, executor], await compiledArtifact('MessageSender'))
  await script.mine()
  return { chain, executor, sender, user, payee: freshAddress() }
}

async function deployReceiver(end: Requests, other: Requests): Promise<ExecutorEnd> {
  const script = await Script.of(end.chain.anvil, end.chain.deployer)
  const from = [other.chain.wormholeChainId, `0x${toUniversal(other.sender)}`]
  const receiver = script.deploy('MessageReceiver', [end.chain.core, ...from], await compiledArtifact('MessageReceiver'))
  const dropOff = script.deploy('DropOffReceiver', [ZeroAddress], await compiledArtifact('DropOffReceiver'))
  const record = script.deploy('DeliveryRecord', [], await compiledArtifact('DeliveryRecord'))
  await script.mine()
  return { ...end, receiver, dropOff, record }
}

export const quoterVariable = 'PORTAGE_DEVNET_QUOTER_KEY'
export const devnetQuoter = devnetAccount(accountIndex.quoter)

/** `bridges.executor` of a config. The coins of both chains have the same price. */
export function executorConfig(ends: readonly ExecutorEnd[]): NonNullable<ConfigInput['bridges']['executor']> {
  return {
    quoter: { address: devnetQuoter.address, signer: { kind: 'environment', variable: quoterVariable } },
    chains: Object.fromEntries(
      ends.map(({ chain: { name }, executor: contract, payee, receiver, dropOff: dropOffContract }) => [
        name,
        {
          ...{ contract, payee, price: '3000', maxMsgValue: String(10n ** 18n), maxGasDropOff: String(10n ** 17n), startBlock: 0 },
          dropOffContract,
          receivers: { [receiver]: { view: 'isReceived(bytes32)' } },
        },
      ]),
    ),
  }
}
