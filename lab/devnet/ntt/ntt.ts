import { MaxUint256, ZeroAddress } from 'ethers'
import { accountIndex, devnetAccount } from '../chain/accounts.ts'
import { artifact, Script } from '../chain/contracts.ts'
import { compiledArtifact } from '../chain/solidity.ts'
import { toUniversal } from '../wormhole/vaa.ts'
import type { WormholeChain } from '../wormhole/wormhole.ts'
import { linked, managerAbi, type NttEnd, transceiverAbi } from './ntt-contracts.ts'
import { startNttUsers, type NttUsers } from './ntt-users.ts'

/** A token that is locked on ethereum (18 decimals), and minted and burnt on bsc (9 decimals). */
export interface NttNetwork {
  readonly ends: { readonly ethereum: NttEnd; readonly bsc: NttEnd }
  readonly users: { readonly ethereum: NttUsers; readonly bsc: NttUsers }
}

export interface NttOptions {
  readonly transceivers?: number
  /** Number of transceivers that must attest to a message. Default: all. */
  readonly threshold?: number
  /**
   * Seconds until a queued transfer may be completed, and until a used limit is restored. Default 86,400, as in NTT.
   */
  readonly rateLimitSeconds?: number
  /** Inbound limit, whole tokens. Larger transfers are queued. Default: unlimited until `orderNtt` sets a limit. */
  readonly inboundLimit?: bigint
  readonly consistencyLevel?: number
}

/** Whole tokens of each user, and of the manager that locks tokens. */
const supply = 1_000_000n
const seedOf = (decimals: number) => supply * 10n ** BigInt(decimals)

/** Deploys the real bytecode of version 2.0.0. Throws Error with the transaction that reverted. */
export async function deployNtt(
  chains: { readonly ethereum: WormholeChain; readonly bsc: WormholeChain },
  options: NttOptions = {},
): Promise<NttNetwork> {
  const [locking, burning] = await Promise.all([
    deployEnd(chains.ethereum, { position: 0, mode: 'lock', decimals: 18 }, options),
    deployEnd(chains.bsc, { position: 1, mode: 'burn', decimals: 9 }, options),
  ])
  await Promise.all([connect(locking, burning, options), connect(burning, locking, options)])
  return {
    ends: { ethereum: locking, bsc: burning },
    users: { ethereum: startNttUsers(locking, burning), bsc: startNttUsers(burning, locking) },
  }
}

interface EndPlan {
  readonly position: number
  readonly mode: 'lock' | 'burn'
  readonly decimals: number
}

async function deployEnd(
  { name, wormholeChainId, anvil, core }: WormholeChain,
  { position, mode, decimals }: EndPlan,
  { transceivers: count = 1, rateLimitSeconds = 86_400, consistencyLevel = 1 }: NttOptions,
): Promise<NttEnd> {
  const [deployer, user] = [devnetAccount(accountIndex.nttDeployer + position), devnetAccount(accountIndex.nttUser + position)]
  await Promise.all([deployer, user].map(({ address }) => anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 24n).toString(16)}`])))
  const [tokenCode, structsCode] = await Promise.all([compiledArtifact('NttToken'), compiledArtifact('TransceiverStructs')])
  const script = await Script.of(anvil, deployer)
  const token = script.deploy('NttToken', [decimals], tokenCode)
  const code = linked(script.deploy('TransceiverStructs', [], structsCode))
  // The deployer calls initialize() itself, because initialize() refuses every other sender, such as a proxy's
  // constructor.
  const proxied = (implementation: string) => script.deploy('ERC1967Proxy', [implementation, '0x'], artifact('ERC1967Proxy'))
  const constants = [token, mode === 'lock' ? 0 : 1, wormholeChainId, rateLimitSeconds, false]
  const manager = proxied(script.deploy('NttManager', constants, code.manager))
  script.call(manager, managerAbi, 'initialize', [])
  const transceivers = Array.from({ length: count }, () => {
    const levels = [consistencyLevel, 0, 0, ZeroAddress]
    const transceiver = proxied(script.deploy('WormholeTransceiver', [manager, core, ...levels], code.transceiver))
    script.call(transceiver, transceiverAbi, 'initialize', [])
    script.call(manager, managerAbi, 'setTransceiver', [transceiver])
    return transceiver
  })
  script.call(token, tokenCode.abi, 'setMinter', [mode === 'burn' ? manager : ZeroAddress])
  // The manager that locks tokens owns as many tokens as the other end's user, so that it can pay out everything that
  // this user sends.
  for (const owner of mode === 'lock' ? [user.address, manager] : [user.address])
    script.call(token, tokenCode.abi, 'mint', [owner, seedOf(decimals)])
  await script.mine()
  return { name, wormholeChainId, anvil, core, deployer, user, token, decimals, manager, transceivers }
}

/**
 * Connects an end to its peer. Each setWormholePeer and each initialize() of a transceiver publishes a
 * message.
 */
async function connect(end: NttEnd, peer: NttEnd, { threshold = end.transceivers.length, inboundLimit }: NttOptions): Promise<void> {
  const { anvil, deployer, user, manager, token, decimals } = end
  const script = await Script.of(anvil, deployer)
  // The highest possible limit: amounts in the contract have 64 bits and at most 8 decimals.
  const unlimited = (2n ** 64n - 1n) * 10n ** BigInt(decimals - 8)
  const inbound = inboundLimit === undefined ? unlimited : inboundLimit * 10n ** BigInt(decimals)
  script.call(manager, managerAbi, 'setPeer', [peer.wormholeChainId, `0x${toUniversal(peer.manager)}`, peer.decimals, inbound])
  end.transceivers.forEach((transceiver, index) => {
    const other = `0x${toUniversal(peer.transceivers[index] ?? '')}`
    script.call(transceiver, transceiverAbi, 'setWormholePeer', [peer.wormholeChainId, other])
  })
  script.call(manager, managerAbi, 'setThreshold', [threshold])
  await script.mine()
  const approval = await Script.of(anvil, user)
  approval.call(token, (await compiledArtifact('NttToken')).abi, 'approve', [manager, MaxUint256])
  await approval.mine()
}
