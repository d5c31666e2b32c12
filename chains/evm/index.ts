import { keccak256 } from 'ethers'
import type { FinalityPolicy } from '../../domain/finality.ts'
import type { NodeUse } from '../../domain/settings/settings.ts'
import type { Chain } from '../port.ts'
import { createAccounts } from './transactions/accounts.ts'
import type { FeeModel } from './fees/data-fee.ts'
import { createReplacedChainCheck } from './heads/replaced-chain.ts'
import { createClassifier, type ErrorTexts } from './transactions/error-classes.ts'
import { createFees } from './fees/fees.ts'
import { createHeads, type EvmHeads } from './heads/heads.ts'
import { createInclusions } from './transactions/inclusions.ts'
import { createMined } from './transactions/mined.ts'
import { createNodes } from './nodes/nodes.ts'
import { createQuorum } from './nodes/quorum.ts'
import { type BridgeReads, createReads } from './reads.ts'
import { createReceipts } from './transactions/receipts.ts'
import { sendRaw } from './transactions/send.ts'
import { simulate } from './transactions/simulate.ts'

export { createSigner } from './signers/index.ts'

export interface EvmNodeOptions {
  readonly url: string
  readonly name?: string | undefined
  readonly use?: NodeUse | undefined
  readonly requestsPerSecond?: number | undefined
}

export interface EvmChainOptions {
  /** The chain's name in the config. */
  readonly name: string
  /** EIP-155 chain id. */
  readonly networkId: number | string
  /** JSON-RPC over HTTP, in order of preference. A node without a name is called node-1, node-2… by its place; without a use it does all. */
  readonly nodes: readonly EvmNodeOptions[]
  /** `private`: transactions go to nodes of private use only. Absent: public. */
  readonly send?: 'public' | 'private' | undefined
  /** Texts of this chain's nodes, by what they mean; tried before the built-in table. */
  readonly errors?: ErrorTexts | undefined
  /** What `${VARIABLE}` in the URL of a node stands for that is added later; absent: no variable is known. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** How the network charges; absent: ethereum. */
  readonly feeModel?: FeeModel | undefined
  /** Blocks of eth_feeHistory, and which percentile of their tips; absent: 4 and 50. */
  readonly feeHistory?: { readonly blocks: number; readonly percentile: number } | undefined
  readonly finality: FinalityPolicy
  readonly blockTimeMs: number
  /** Longest wait for one answer of a node, ms; 10 s if absent. */
  readonly timeoutMs?: number | undefined
}

/** The port, and the reads that a bridge needs on this family. */
export interface EvmChain extends Chain, BridgeReads {}

/** One EVM network. Nothing is asked before `connect`. */
export function createEvmChain(options: EvmChainOptions): EvmChain {
  const { name, finality, blockTimeMs } = options
  const networkId = String(options.networkId)
  const nodes = createNodes({
    chain: name,
    networkId,
    nodes: options.nodes.map(({ name: given, use = 'all', ...node }, index) => ({ ...node, use, name: given ?? `node-${index + 1}` })),
    send: options.send,
    timeoutMs: options.timeoutMs,
    environment: options.environment,
  })
  const heads = createHeads({ chain: name, nodes, finality, blockTimeMs })
  const quorum = createQuorum({ chain: name, nodes, heads, blockTimeMs })
  const receipts = createReceipts(nodes, quorum)
  const accounts = createAccounts(name, nodes, heads, finality)
  const classify = createClassifier(options.errors)
  const inclusions = createInclusions(heads, receipts)
  const connect = once(async () => {
    await nodes.verify()
    await heads.start()
  })

  return {
    name,
    family: 'evm',
    networkId,
    finality,
    blockTimeMs,
    heads,
    calls: nodes.calls,
    connect,
    close() {
      heads.stop()
      nodes.close()
    },
    account: accounts.read,
    ...createReads({ chain: name, nodes, quorum, finalizedTag: accounts.finalizedTag }),
    ...createFees({ chain: name, networkId, nodes, heads, model: options.feeModel, history: options.feeHistory }),
    simulate: (call, from, gasFactor = 1) => simulate(nodes, call, from, gasFactor, heads.kept.latest?.gasLimit),
    mined: createMined({ chain: name, nodes, heads, quorum }),
    denies: createReplacedChainCheck({ nodes, kept: heads.kept, quorum, finality }),
    nodes: nodes.status,
    adjustNodes: nodes.adjust,
    async send(raw) {
      const outcome = await sendRaw(nodes, classify, raw)
      if (outcome.kind === 'accepted') inclusions.accepted(keccak256(raw))
      return outcome
    },
    watch: inclusions.watch,
    msToFinality: (height) => msToFinality(heads, options, height),
    async receipt(hash) {
      const receipt = await receipts.one(hash)
      return receipt && heads.kept.lists(receipt.block, receipt.hash) !== false ? receipt : undefined
    },
  }
}

function msToFinality(
  heads: EvmHeads,
  { finality, blockTimeMs }: Pick<EvmChainOptions, 'finality' | 'blockTimeMs'>,
  height: number,
): number {
  const { current } = heads
  if (finality.kind === 'instant' || (current && height <= current.finalized)) return 0
  const lag = finality.kind === 'depth' ? finality.blocks : heads.finalityLag
  const elapsed = current ? Date.now() - heads.latestSeenAt : 0
  const remaining = Math.max(0, height + lag - (current?.latest.height ?? height)) * blockTimeMs - elapsed
  // Not final yet, so never 0: at the earliest with the next poll.
  return Math.max(remaining, Math.ceil(blockTimeMs / 2))
}

/** Runs once for all that call it; after a failure the next call tries again. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= work().catch((error: unknown) => {
      running = undefined
      throw error
    })
    return running
  }
}
