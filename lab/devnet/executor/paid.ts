import { MaxUint256 } from 'ethers'
import type { CctpNetwork } from '../cctp/network.ts'
import { burnOutcome, type SentBurn } from '../cctp/cctp-users.ts'
import type { CctpEnd } from '../cctp/cctp.ts'
import { type Mined, Script } from '../chain/contracts.ts'
import { compiledArtifact } from '../chain/solidity.ts'
import type { NttEnd } from '../ntt/ntt-contracts.ts'
import { inUnitsOf, nttOutcome, type SentNttTransfer } from '../ntt/ntt-users.ts'
import type { NttNetwork } from '../ntt/ntt.ts'
import { toUniversal } from '../wormhole/vaa.ts'
import type { ExecutorEnd } from './deploy.ts'

export type PaidKind = 'ntt' | 'burnV1' | 'burnV2'

export interface PaidEnd {
  readonly sender: string
  readonly ntt: NttEnd | undefined
  readonly cctp: CctpEnd | undefined
  /** For each CCTP version, the contract that delivers a burn and pays a drop-off in the same call. */
  readonly dropOffs: { readonly v1: string; readonly v2: string } | undefined
}

export interface PaidNetworks {
  readonly ntt?: NttNetwork | undefined
  readonly cctp?: CctpNetwork | undefined
}

const supply = 10n ** 15n

/** Deploys the contracts of both ends. The users own tokens of both products and have approved the sender for them. */
export function deployPaid(ends: readonly [ExecutorEnd, ExecutorEnd], { ntt, cctp }: PaidNetworks): Promise<[PaidEnd, PaidEnd]> {
  const [ethereum, bsc] = ends
  return Promise.all([deployEnd(ethereum, ntt?.ends.ethereum, cctp?.ends.ethereum), deployEnd(bsc, ntt?.ends.bsc, cctp?.ends.bsc)])
}

async function deployEnd({ chain, executor, user }: ExecutorEnd, ntt: NttEnd | undefined, cctp: CctpEnd | undefined): Promise<PaidEnd> {
  const [senderCode, dropOffCode, nttToken, cctpToken] = await Promise.all(
    ['PaidSender', 'DropOffReceiver', 'NttToken', 'CctpToken'].map(compiledArtifact),
  )
  const script = await Script.of(chain.anvil, chain.deployer)
  const sender = script.deploy('PaidSender', [executor], senderCode)
  const dropOff = (transmitter: string) => script.deploy('DropOffReceiver', [transmitter], dropOffCode)
  const dropOffs = cctp && { v1: dropOff(cctp.contracts[1].transmitter), v2: dropOff(cctp.contracts[2].transmitter) }
  await script.mine()
  const approvals = await Script.of(chain.anvil, user)
  for (const [end, code] of [[ntt, nttToken] as const, [cctp, cctpToken] as const]) {
    if (!end || !code) continue
    const minting = await Script.of(chain.anvil, end.deployer)
    minting.call(end.token, code.abi, 'mint', [user.address, end === ntt ? inUnitsOf(end, supply) : supply])
    await minting.mine()
    approvals.call(end.token, code.abi, 'approve', [sender, MaxUint256])
  }
  if (ntt ?? cctp) await approvals.mine()
  return { sender, ntt, cctp, dropOffs }
}

/** `amount`: 8 decimals for NTT, 6 for CCTP. */
export interface PaidWish {
  readonly kind: PaidKind
  readonly amount: bigint
  readonly recipient: string
}

export async function paidCall(
  { ntt, cctp }: PaidEnd,
  peer: PaidEnd,
  { kind, amount, recipient }: PaidWish,
  payment: { readonly dstChain: number; readonly signedQuote: string; readonly relayInstructions: string },
): Promise<string> {
  const { abi } = await compiledArtifact('PaidSender')
  const [to, paid] = [`0x${toUniversal(recipient)}`, [payment.dstChain, payment.signedQuote, payment.relayInstructions]]
  if (kind === 'ntt' && ntt) return abi.encodeFunctionData('sendNtt', [ntt.manager, inUnitsOf(ntt, amount), to, paid])
  if (kind === 'ntt' || !cctp || !peer.cctp) throw new Error(`The devnet was started without what ${kind} needs`)
  const [version, domains] = [kind === 'burnV1' ? 1 : 2, [cctp.domain, peer.cctp.domain]] as const
  const { messenger } = cctp.contracts[version]
  return abi.encodeFunctionData(kind, [messenger, cctp.token, amount, version === 1 ? domains : domains[1], to, paid])
}

export function paidOutcome(
  from: PaidEnd,
  to: PaidEnd,
  { kind, amount, recipient }: PaidWish,
  mined: Mined,
): Promise<SentBurn> | SentNttTransfer {
  if (kind === 'ntt' && from.ntt && to.ntt) return nttOutcome(from.ntt, to.ntt, { amount, recipient }, mined)
  if (!from.cctp || !to.cctp) throw new Error(`The devnet was started without what ${kind} needs`)
  return burnOutcome(from.cctp, to.cctp, { version: kind === 'burnV1' ? 1 : 2, amount, recipient }, mined)
}
