import { keccak256 } from 'ethers'
import { RelayerError } from '../../domain/errors.ts'
import type { FinalityPolicy } from '../../domain/finality.ts'
import type { NodeUse } from '../../domain/settings/settings.ts'
import type { At, Chain } from '../port.ts'
import { createAccounts } from './transactions/accounts.ts'
import type { FeeModel } from './fees/data-fee.ts'
import { createReplacedChainCheck } from './heads/replaced-chain.ts'
import { createBlocks } from './heads/blocks.ts'
import { createClassifier, type ErrorTexts } from './transactions/error-classes.ts'
import { createFees } from './fees/fees.ts'
import { createHeads } from './heads/heads.ts'
import { toBytes, toNumber, toRecord } from './hex.ts'
import { createInclusions } from './transactions/inclusions.ts'
import { agreedLogs, type FoundLog, type LogFilter, readLogs } from './logs.ts'
import { createMined } from './transactions/mined.ts'
import { createNodes } from './nodes/nodes.ts'
import { createQuorum } from './nodes/quorum.ts'
import type { Question } from './nodes/rounds.ts'
import { createReceipts } from './transactions/receipts.ts'
import { sendRaw } from './transactions/send.ts'
import { simulate } from './transactions/simulate.ts'

export type { FoundLog, LogFilter } from './logs.ts'
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

/** The port, and the reads that a bridge needs on this family. All calls of a tick leave in one HTTP request. */
export interface EvmChain extends Chain {
  /** `eth_call`: the returned bytes. A revert too throws NODE_REFUSED. Throws NODE_UNAVAILABLE, NODES_DISAGREE (at `agreed`). */
  call(to: string, data: string, at: At): Promise<string>
  /** Logs of a range of blocks, both ends included, in order. Throws NODE_REFUSED, NODE_UNAVAILABLE; at `agreed` (final blocks) NODES_DISAGREE. */
  logs(filter: LogFilter, at?: 'agreed'): Promise<readonly FoundLog[]>
  /** Sender of a mined transaction, lower case; undefined if the node knows none in a block. */
  transactionSender(hash: string): Promise<string | undefined>
}

/** No pool keeps so many of one account (domain/lane/request.ts): a node that is so far above the others tells nonsense, and only it. */
const mostPending = 1_000

function highestPlausible(counts: readonly number[]): number {
  const sorted = counts.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
  return Math.max(...sorted.filter((count) => count - middle <= mostPending))
}

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
  const mined = createMined({ chain: name, nodes, heads, quorum })
  const denies = createReplacedChainCheck({ nodes, kept: heads.kept, quorum, finality })
  const classify = createClassifier(options.errors)
  const inclusions = createInclusions(heads, receipts)
  const fees = createFees({ chain: name, networkId, nodes, heads, model: options.feeModel, history: options.feeHistory })
  let connecting: Promise<void> | undefined

  function agreedCall(to: string, data: string, at: 'agreed' | 'agreed-latest'): Question<string> {
    const params = () => [{ to, data }, at === 'agreed' ? accounts.finalizedTag() : 'latest']
    return { about: `call ${at} ${to} ${data}`, method: 'eth_call', params, read: (value) => toBytes(value, 'returned bytes') }
  }

  async function connect(): Promise<void> {
    await nodes.verify()
    await heads.start()
  }

  return {
    name,
    family: 'evm',
    networkId,
    finality,
    blockTimeMs,
    heads,
    calls: nodes.calls,
    async connect() {
      connecting ??= connect()
      try {
        await connecting
      } catch (error) {
        connecting = undefined
        throw error
      }
    },
    close() {
      heads.stop()
      nodes.close()
    },
    account: accounts.read,
    async pendingNonce(address) {
      const answers = await nodes.askAll('eth_getTransactionCount', [address, 'pending'])
      const counts = answers.flatMap((answer) => (answer.ok ? [toNumber(answer.result, 'transaction count')] : []))
      if (counts.length * 2 > nodes.readers) return highestPlausible(counts)
      const detail = answers.flatMap((answer) => (answer.ok ? [] : [answer.error.message])).join('; ')
      throw new RelayerError('NODE_UNAVAILABLE', { detail, facts: { chain: name, nodes: nodes.readers, answered: counts.length } })
    },
    async hasCode(address) {
      return toBytes(await nodes.request('eth_getCode', [address, 'latest']), 'code') !== '0x'
    },
    ...fees,
    simulate: (call, from, gasFactor = 1) => simulate(nodes, call, from, gasFactor, heads.kept.latest?.gasLimit),
    agreedNonce: (address) =>
      quorum.agree({
        about: `nonce ${address}`,
        method: 'eth_getTransactionCount',
        params: () => [address, accounts.finalizedTag()],
        read: (value) => toNumber(value, 'transaction count'),
      }),
    mined,
    denies,
    block: createBlocks(nodes, quorum),
    nodes: nodes.status,
    adjustNodes: nodes.adjust,
    async send(raw) {
      const outcome = await sendRaw(nodes, classify, raw)
      if (outcome.kind === 'accepted') inclusions.accepted(keccak256(raw))
      return outcome
    },
    watch: inclusions.watch,
    msToFinality(height) {
      const event = heads.current
      const latest = event?.latest.height ?? height
      if (finality.kind === 'instant' || (event && height <= event.finalized)) return 0
      const lag = finality.kind === 'depth' ? finality.blocks : heads.finalityLag
      const elapsed = event ? Date.now() - heads.latestSeenAt : 0
      const remaining = Math.max(0, height + lag - latest) * blockTimeMs - elapsed
      // Not final yet, so never 0: at the earliest with the next poll.
      return Math.max(remaining, Math.ceil(blockTimeMs / 2))
    },
    async receipt(hash) {
      const receipt = await receipts.one(hash)
      return receipt && heads.kept.lists(receipt.block, receipt.hash) !== false ? receipt : undefined
    },
    async call(to, data, at) {
      if (at === 'agreed' || at === 'agreed-latest') return quorum.agree(agreedCall(to, data, at))
      const tag = at === 'latest' ? 'latest' : accounts.finalizedTag()
      return toBytes(await nodes.request('eth_call', [{ to, data }, tag]), 'returned bytes')
    },
    logs: (filter, at) => (at === 'agreed' ? agreedLogs(quorum, filter) : readLogs(nodes, filter)),
    async transactionSender(hash) {
      const value = await nodes.request('eth_getTransactionByHash', [hash])
      if (value === null) return undefined
      const transaction = toRecord(value, 'transaction')
      return transaction['blockHash'] == null ? undefined : toBytes(transaction['from'], 'sender')
    },
  }
}
