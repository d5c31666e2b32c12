import { concat, dataSlice, id as keccakText, MaxUint256, zeroPadValue, type Interface } from 'ethers'
import type { DevnetAccount } from '../chain/accounts.ts'
import type { Anvil } from '../chain/anvil.ts'
import { Script, type Mined } from '../chain/contracts.ts'
import { compiledArtifact } from '../chain/solidity.ts'

/** `strict` has two defects of the deployed contract, `fixed` has neither (lab/devnet/contracts). */
export type NativeBridgeVariant = 'strict' | 'fixed'

export interface NativeBridgePlan {
  readonly name: string
  readonly anvil: Anvil
  /** Account that deploys the bridge, and is the bridge's admin and maintainer. */
  readonly deployer: DevnetAccount
  readonly user: DevnetAccount
  /** Accounts that may complete transfers: the chain's lanes. At least one. */
  readonly relayers: readonly string[]
}

/** One end of the native bridge. Addresses are lower-case 0x. */
export interface NativeBridgeEnd extends NativeBridgePlan {
  readonly bridge: string
  readonly token: string
  /** A quarter of this account's balance is the daily inbound limit. */
  readonly insuranceFund: string
}

export interface InitiatedTransfer {
  readonly id: string
  readonly nonce: bigint
  /** Lower-case 0x address on the source chain. */
  readonly initiator: string
  /** 32 bytes. The last 20 are an address of the target chain. */
  readonly recipient: string
  readonly amount: bigint
  readonly height: number
}

export type Completion = readonly [id: string, initiator: string, recipient: string, amount: bigint, nonce: bigint]

/** Tokens of the user, of the pool that pays completions, and of the fund. 8 decimals. */
const supply = 10n ** 17n

const relayerRole = keccakText('RELAYER_ROLE')

const bridgeArtifacts = { strict: 'StrictNativeBridge', fixed: 'FixedNativeBridge' } as const

export async function nativeBridgeAbi(variant: NativeBridgeVariant = 'fixed'): Promise<Interface> {
  return (await compiledArtifact(bridgeArtifacts[variant])).abi
}

/** Deploys the bridge, and returns its end on this chain. Throws Error with the transaction that reverted. */
export async function deployNativeBridge(plan: NativeBridgePlan, variant: NativeBridgeVariant): Promise<NativeBridgeEnd> {
  const { anvil, deployer, user, relayers } = plan
  const [bridgeCode, tokenCode] = await Promise.all([compiledArtifact(bridgeArtifacts[variant]), compiledArtifact('BridgeToken')])
  const script = await Script.of(anvil, deployer)
  const token = script.deploy('BridgeToken', [], tokenCode)
  const bridge = script.deploy(bridgeArtifacts[variant], [], bridgeCode)
  // Nobody has the key of this account, which only needs a balance.
  const insuranceFund = `0x${'f0'.repeat(20)}`
  const [first, ...others] = relayers
  script.call(bridge, bridgeCode.abi, 'initialize', [token, deployer.address, first, deployer.address, insuranceFund])
  for (const relayer of others) script.call(bridge, bridgeCode.abi, 'grantRole', [relayerRole, relayer])
  for (const owner of [user.address, bridge, insuranceFund]) script.call(token, tokenCode.abi, 'mint', [owner, supply])
  await script.mine()
  const approval = await Script.of(anvil, user)
  approval.call(token, tokenCode.abi, 'approve', [bridge, MaxUint256])
  await approval.mine()
  return { ...plan, bridge, token, insuranceFund }
}

export async function initiate(
  { anvil, user, bridge }: NativeBridgeEnd,
  transfers: readonly { readonly to: string; readonly amount: bigint }[],
): Promise<InitiatedTransfer[]> {
  const abi = await nativeBridgeAbi()
  const script = await Script.of(anvil, user)
  for (const { to, amount } of transfers) script.call(bridge, abi, 'initiateBridgeTransfer', [zeroPadValue(to, 32), amount])
  return (await script.mine()).flatMap((transaction) => initiatedIn(transaction, bridge, abi))
}

export function initiatedIn({ logs, blockNumber }: Mined, bridge: string, abi: Interface): InitiatedTransfer[] {
  return logs
    .filter((log) => log.address.toLowerCase() === bridge)
    .map((log) => abi.parseLog(log))
    .flatMap((event) => {
      if (event?.name !== 'BridgeTransferInitiated') return []
      const [id, initiator, recipient, amount, nonce] = event.args.toArray() as [string, string, string, bigint, bigint]
      return [{ id, nonce, initiator: initiator.toLowerCase(), recipient, amount, height: blockNumber }]
    })
}

/**
 * Arguments for the target's contract. The id is a hash over initiator and recipient, which have 20 and 32 bytes at the
 * source, but 32 and 20 bytes at the target. The first 12 bytes of the recipient, which are zeros, therefore move to
 * the end of the initiator.
 */
export function completionOf({ id, initiator, recipient, amount, nonce }: InitiatedTransfer): Completion {
  return [id, concat([initiator, dataSlice(recipient, 0, 12)]), dataSlice(recipient, 12, 32), amount, nonce]
}
