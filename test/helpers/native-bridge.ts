import type { NativeEndpoint } from '../../bridges/native-bridge/evm.ts'
import { nativeBridge, type NativeRoute, type NativeTransfer, toTransfer } from '../../bridges/native-bridge/message.ts'
import type { Bridge, ScannedSource } from '../../bridges/port.ts'
import { createBridges } from '../../bridges/registry.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { Receipt } from '../../chains/port.ts'
import type { Signer } from '../../chains/signing-port.ts'
import { nativeBridgeSchema } from '../../config/schema/bridge-schema.ts'
import { accountIndex, devnetAccount, freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import {
  deployNativeBridge,
  initiate,
  nativeBridgeAbi,
  type NativeBridgeEnd,
  type NativeBridgeVariant,
} from '../../lab/devnet/native/native-bridge.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { devnetSigner, testChain } from './evm.ts'
import { head } from './heads.ts'

/** One end of the bridge with its connected chain. Only tests mine blocks. */
export interface NativeEnd extends NativeBridgeEnd {
  readonly chain: EvmChain
  mine(blocks?: number): Promise<void>
  /** Mines until the current head is final. Resolves once `chain` has seen this. */
  finalise(): Promise<void>
  /** Mines a transaction of the admin. Default contract: the bridge. */
  admin(method: string, args: readonly unknown[], to?: { readonly address: string; readonly contract: 'BridgeToken' }): Promise<void>
}

export interface NativeBridgeNetwork {
  readonly source: NativeEnd
  readonly target: NativeEnd
  readonly route: NativeRoute
  readonly bridge: Bridge
  readonly endpoint: NativeEndpoint
  readonly relayer: Signer
  /** Starts a transfer of each amount to a new account. The transfers are in a block, but not final. */
  start(...amounts: bigint[]): Promise<NativeTransfer[]>
  /** Starts transfers and makes them final. Returns them in the bridge's form. */
  transfers(...amounts: bigint[]): Promise<Transfer[]>
  /** Mines a call to the target, by default from the relayer. The call may revert. */
  deliver(intent: Intent, gasLimit?: string, signer?: Signer): Promise<Receipt>
  stop(): Promise<void>
}

const networks = { source: 1337, target: 1397 } as const

type End = Pick<NativeEnd, 'bridge' | 'chain'>

/** Makes the bridge as a process of the target does. `settings`: fields of the route in the config. */
export function createNativeBridge({ source, target }: { readonly source: End; readonly target: End }, settings: object = {}) {
  const route = { source: 'source', target: 'target', sourceContract: source.bridge, targetContract: target.bridge, ...settings }
  const bridges = { [nativeBridge]: nativeBridgeSchema.parse({ routes: [route] }) }
  const chains = { source: { networkId: networks.source }, target: { networkId: networks.target } }
  const connected = new Map(Object.entries({ source: source.chain, target: target.chain }))
  const bridge = createBridges({ chains, bridges }, connected, ['target']).get(nativeBridge)!
  return { bridge, endpoint: bridge.endpoints.get('target') as NativeEndpoint, stream: bridge.sources[0] as ScannedSource }
}

export async function startNativeBridge(variant: NativeBridgeVariant): Promise<NativeBridgeNetwork> {
  const relayer = await devnetSigner(accountIndex.lane)
  const [source, target] = await Promise.all([startEnd('source', 0, variant, relayer), startEnd('target', 1, variant, relayer)])
  const route: NativeRoute = {
    sourceChain: 'source',
    sourceNetworkId: String(networks.source),
    sourceBridge: source.bridge,
    targetChain: 'target',
    targetBridge: target.bridge,
  }
  const { bridge, endpoint } = createNativeBridge({ source, target })
  const start = (...amounts: bigint[]) =>
    initiate(
      source,
      amounts.map((amount) => ({ to: freshAddress(), amount })),
    )
  return {
    source,
    target,
    route,
    bridge,
    endpoint,
    relayer,
    start,
    async transfers(...amounts) {
      const started = await start(...amounts)
      await source.finalise()
      return started.map((one) => toTransfer(route, one))
    },
    async deliver(intent, gasLimit = '5000000', signer = relayer) {
      const { latestNonce } = await target.chain.account(signer.address)
      const fees = { maxFee: '200000000000', tip: '1000000000' }
      const { raw, hash } = await signer.sign({ ...intent, ...fees, gasLimit, networkId: String(networks.target), nonce: latestNonce })
      const outcome = await target.chain.send(raw)
      if (outcome.kind !== 'accepted') throw new Error(`The node did not take the transaction: ${JSON.stringify(outcome)}`)
      await target.mine()
      const receipt = await target.chain.receipt(hash)
      if (!receipt) throw new Error('The transaction was not mined')
      return receipt
    },
    async stop() {
      for (const { chain } of [source, target]) chain.close()
      await Promise.all([source, target].map(({ anvil }) => anvil.stop()))
    },
  }
}

async function startEnd(name: 'source' | 'target', position: number, variant: NativeBridgeVariant, relayer: Signer): Promise<NativeEnd> {
  const anvil = await startAnvil({ chainId: networks[name], blockTimeSeconds: 86_400 })
  const accounts = { deployer: devnetAccount(accountIndex.deployer + position), user: devnetAccount(accountIndex.user + position) }
  const end = await deployNativeBridge({ name, anvil, ...accounts, relayers: [relayer.address] }, variant)
  const chain = testChain(anvil.url, { name, networkId: networks[name] })
  await chain.connect()
  const abi = await nativeBridgeAbi(variant)
  const height = async () => Number(await anvil.rpc<string>('eth_blockNumber'))
  const caughtUp = async () => {
    const wanted = await height()
    await head(chain, ({ latest }) => latest.height >= wanted)
  }
  const mine = async (blocks = 1) => {
    for (let block = 0; block < blocks; block++) await anvil.rpc('evm_mine')
    await caughtUp()
  }
  const finalise = async () => {
    const wanted = await height()
    await mine(3)
    await head(chain, ({ finalized }) => finalized >= wanted)
  }
  // The finalized state must contain the new contract.
  await finalise()
  return {
    ...end,
    chain,
    mine,
    finalise,
    async admin(method, args, to) {
      const script = await Script.of(anvil, accounts.deployer)
      const artifactAbi = to ? (await compiledArtifact(to.contract)).abi : abi
      script.call(to?.address ?? end.bridge, artifactAbi, method, args)
      await script.mine()
      await caughtUp()
    },
  }
}
