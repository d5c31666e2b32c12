import { createBridges } from '../../bridges/registry.ts'
import type { Bridge } from '../../bridges/port.ts'
import { wormholeTokenBridgeSchema } from '../../config/schema/bridge-schema.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { Receipt } from '../../chains/port.ts'
import type { Signer } from '../../chains/signing-port.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { type Message, type SignedVaa, toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { chainPlan, deployWormhole, type WormholeChain } from '../../lab/devnet/wormhole/wormhole.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { devnetSigner, networkId, startManualAnvil, testChain } from './evm.ts'
import { head } from './heads.ts'
import { type SignOptions, signVaa, transferPayload, type TransferFields } from './vaa.ts'

export interface TokenBridgeNetwork {
  /** The target, with the real contracts. Only tests mine blocks. */
  readonly ethereum: WormholeChain
  /** The source of all messages. Its node is stopped, because a relayer does not need it. */
  readonly bsc: Omit<WormholeChain, 'anvil'>
  readonly chain: EvmChain
  readonly signer: Signer
  /** Makes the bridge with these settings of the config. The bridge has not read anything yet. */
  bridge(settings?: object): Bridge
  /** A message of bsc's token bridge to ethereum with its own sequence. By default, the message can be delivered. */
  message(payload?: Partial<TransferFields>, message?: Partial<Message>, options?: SignOptions): SignedVaa
  deliver(intent: Intent, gasLimit?: string): Promise<Receipt>
  /** Mines until the current head is final. Resolves once `chain` has seen this. */
  finalise(): Promise<void>
  mine(blocks?: number): Promise<void>
  stop(): Promise<void>
}

const account = 30

/** Starts two anvils with the real Wormhole contracts. The guardians have devnet keys. */
export async function startTokenBridge(guardians = 1): Promise<TokenBridgeNetwork> {
  const [anvil, other] = await Promise.all([startManualAnvil(), startManualAnvil()])
  const plans = [chainPlan('ethereum', 2, anvil, 0), chainPlan('bsc', 4, other, 1)] as const
  const [ethereum, bsc] = await deployWormhole(plans, { guardians: devnetGuardians(guardians) })
  await other.stop()
  const chain = testChain(anvil.url, { name: 'ethereum' })
  await chain.connect()
  const signer = await devnetSigner(account)
  let sequence = 1_000n
  const mine = async (blocks = 1) => {
    await anvil.mine(blocks)
    const height = Number(await anvil.rpc<string>('eth_blockNumber'))
    await head(chain, (event) => event.latest.height >= height)
  }
  return {
    ethereum,
    bsc,
    chain,
    signer,
    mine,
    bridge(settings = { freeRoutes: [{ target: 'ethereum' }] }) {
      const chains = {
        ethereum: {
          family: 'evm' as const,
          networkId,
          wormholeChainId: 2,
          contracts: { core: ethereum.core, tokenBridge: ethereum.tokenBridge },
        },
        bsc: {
          family: 'evm' as const,
          networkId: networkId + 1,
          wormholeChainId: 4,
          contracts: { core: bsc.core, tokenBridge: bsc.tokenBridge },
        },
      }
      const parsed = wormholeTokenBridgeSchema.parse(settings)
      return [...createBridges({ chains, bridges: { 'wormhole-token-bridge': parsed } }, new Map([['ethereum', chain]])).values()][0]!
    },
    message(payload = {}, message = {}, options = {}) {
      const fields = {
        token: toUniversal(bsc.token),
        tokenChain: 4,
        toChain: 2,
        to: toUniversal(`0x${String(sequence).padStart(40, '9')}`),
        ...payload,
      }
      const from = { emitterChain: 4, emitter: toUniversal(bsc.tokenBridge), sequence: sequence++, payload: transferPayload(fields) }
      return signVaa({ ...from, ...message }, { guardians, ...options })
    },
    async deliver(intent, gasLimit = '500000') {
      const { latestNonce } = await chain.account(signer.address)
      const fees = { maxFee: '200000000000', tip: '1000000000' }
      const { raw, hash } = await signer.sign({ ...intent, ...fees, gasLimit, networkId: String(networkId), nonce: latestNonce })
      const outcome = await chain.send(raw)
      if (outcome.kind !== 'accepted') throw new Error(`The node did not take the transaction: ${JSON.stringify(outcome)}`)
      await mine()
      const receipt = await chain.receipt(hash)
      if (!receipt) throw new Error('The transaction was not mined')
      return receipt
    },
    async finalise() {
      const height = Number(await anvil.rpc<string>('eth_blockNumber'))
      await mine(3)
      await head(chain, (event) => event.finalized >= height)
    },
    async stop() {
      chain.close()
      await anvil.stop()
    },
  }
}
