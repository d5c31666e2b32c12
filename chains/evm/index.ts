import { secp256k1 } from '../crypto/secp256k1.ts'
import type { FinalityPolicy } from '../../domain/finality.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Chain } from '../port.ts'
import { createAccounts } from './transactions/accounts.ts'
import { createReplacedChainCheck } from './heads/replaced-chain.ts'
import { type BridgeReads, createReads } from './reads.ts'
import { createSend, type ErrorTexts } from './transactions/send.ts'
import { createFees, type FeeModelOptions } from './fees/fees.ts'
import { createHeads, type EvmHeads } from './heads/heads.ts'
import { createInclusions } from './transactions/inclusions.ts'
import { createMined } from './transactions/mined.ts'
import type { NodeSpec } from './nodes/node-client.ts'
import { createNodes, type NodesOptions } from './nodes/nodes.ts'
import { createQuorum } from './nodes/quorum.ts'
import { createReceipts } from './transactions/receipts.ts'
import { createSimulate } from './transactions/simulate.ts'

export { createMessageSigner, createSigner } from './signers/index.ts'
export { createSignedNonces } from './signers/spending-log.ts'

export type EvmNodeOptions = Pick<NodeSpec, 'url' | 'authorization' | 'requestsPerSecond'> & Partial<Pick<NodeSpec, 'name' | 'use'>>

export interface EvmChainOptions extends Omit<NodesOptions, 'networkId' | 'nodes'>, FeeModelOptions {
  readonly networkId: number | string
  /** JSON-RPC over HTTP, in order of preference. */
  readonly nodes: readonly EvmNodeOptions[]
  readonly errors?: ErrorTexts | undefined
  readonly finality: FinalityPolicy
  readonly blockTimeMs: number
  readonly log?: Pick<Logger, 'info' | 'warn'> | undefined
}

export interface EvmChain extends Chain, BridgeReads {}

const slowSignatures = 'no build of secp256k1 for this platform: signatures are made and checked in JavaScript, about 30 times slower'

/** Sends no request before `connect` is called. */
export function createEvmChain(options: EvmChainOptions): EvmChain {
  const { name, finality, blockTimeMs } = options
  const networkId = String(options.networkId)
  const specs = options.nodes.map((node, index) => ({ ...node, name: node.name ?? `node-${index + 1}`, use: node.use ?? 'all' }))
  const nodes = createNodes({ ...options, networkId, nodes: specs })
  const heads = createHeads(name, nodes, options)
  const agree = createQuorum(name, nodes, heads, blockTimeMs)
  const receipts = createReceipts(nodes, agree)
  const accounts = createAccounts(name, nodes, heads, finality)
  const inclusions = createInclusions(heads, receipts)
  const connection = keptReads(async () => {
    await nodes.verify()
    await heads.start()
    if (options.log && secp256k1().name === 'pure')
      options.log.warn(slowSignatures, { code: 'SIGNATURES_SLOW', platform: `${process.platform}-${process.arch}` })
  })

  return {
    name,
    networkId,
    finality,
    blockTimeMs,
    heads,
    callsByNode: nodes.callsByNode,
    connect: () => connection.get(name),
    close() {
      heads.stop()
      nodes.close()
    },
    account: accounts.read,
    ...createReads(name, nodes, heads, agree, accounts.finalizedTag, options.log),
    ...createFees({ name, heads, networkId }, nodes, options),
    simulate: createSimulate(nodes, () => heads.kept.latest?.gasLimit),
    mined: createMined(name, nodes, heads, agree),
    denies: createReplacedChainCheck(nodes, heads.kept, agree, finality),
    nodes: nodes.status,
    adjustNodes: nodes.adjust,
    send: createSend(nodes, options.errors, inclusions.accepted),
    watch: inclusions.watch,
    msToFinality: (height) => msToFinality(heads, options, height),
    async receipt(hash, at) {
      const receipt = await (at === 'agreed' ? receipts.agreedIfAny(hash) : receipts.one(hash))
      return receipt && heads.kept.lists(receipt.block, receipt.hash) !== false ? receipt : undefined
    },
  }
}

function msToFinality(heads: EvmHeads, { finality, blockTimeMs }: EvmChainOptions, height: number): number {
  const { current } = heads
  if (finality.kind === 'instant' || (current && height <= current.finalized)) return 0
  const lag = finality.kind === 'depth' ? finality.blocks : heads.finalityLag()
  const elapsed = current ? performance.now() - heads.latestSeenAt : 0
  const remaining = Math.max(0, height + lag - (current?.latest.height ?? height)) * blockTimeMs - elapsed
  return Math.ceil(Math.max(remaining, blockTimeMs / 2))
}
