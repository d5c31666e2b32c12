import { Contract, Interface, type JsonRpcProvider, type Log, type Provider } from 'ethers'
import { type ExecutionFinding, type ExecutionVerdict, type ExecutorCheckInput, judgeExecutions } from './executor.ts'
import { type CctpCheckInput, type CctpFinding, type CctpVerdict, judgeCctp } from './cctp.ts'
import { checkLane, type LaneFindings } from './lanes.ts'
import { judgeNative, type NativeCheckInput, type NativeFinding, type NativeVerdict } from './native.ts'
import { judgeNtt, type NttCheckInput, type NttFinding, type NttVerdict } from './ntt.ts'
import { provider } from './provider.ts'
import type { SentTransfer } from '../devnet/wormhole/users.ts'

/**
 * Input of the checker. The checker shares no code with the relayer. It relies only on the events, views and balances
 * of contracts, and reads nothing from Portage or Temporal.
 */
export interface CheckInput {
  readonly transfers: readonly SentTransfer[]
  readonly chains: Readonly<Record<string, { readonly url: string; readonly tokenBridge: string }>>
  readonly lanes?: Readonly<Record<string, readonly string[]>>
  readonly native?: NativeCheckInput | undefined
  readonly ntt?: NttCheckInput | undefined
  readonly executor?: ExecutorCheckInput | undefined
  readonly cctp?: CctpCheckInput | undefined
}

export interface TransferFinding {
  readonly transfer: SentTransfer
  /** Number of TransferRedeemed events of this message. Correct: 1. */
  readonly redeemed: number
  readonly redeemedBy: readonly string[]
  readonly txHashes: readonly string[]
  readonly blockHeight: number | undefined
  /**
   * Time from the block of the user's transaction to the block of the redemption, ms. Times of blocks are whole
   * seconds.
   */
  readonly latencyMs: number | undefined
  /** `balance`: tokens of the recipient. `expected`: amount − fee of this transfer alone. */
  readonly balance: bigint
  readonly expected: bigint
}

export interface CheckResult {
  /** Number of transfers of all bridges. The other counts cover all bridges too. */
  readonly transfers: number
  /** Number of transfers with exactly one delivery and the right balance. */
  readonly delivered: number
  /** Number of transfers without a delivery. Includes native transfers that only the source's contract shows. */
  readonly lost: number
  /** Number of transfers with several deliveries. Includes native transfers that no user reported. */
  readonly duplicates: number
  /**
   * Number of delivered transfers whose recipient has a wrong balance. Includes NTT messages that are not executed,
   * unused CCTP nonces, and requests that are not fulfilled in full.
   */
  readonly wrongBalances: number
  /**
   * Number of completions, payments and mints that do not belong to a user's transfer, plus the number of deliveries
   * that were not paid in full.
   */
  readonly foreignCompletions: number
  readonly deliveredBy: Readonly<Record<string, number>>
  readonly findings: readonly TransferFinding[]
  readonly nativeFindings: readonly NativeFinding[]
  readonly nttFindings: readonly NttFinding[]
  readonly executionFindings: readonly ExecutionFinding[]
  readonly cctpFindings: readonly CctpFinding[]
  readonly lanes: readonly LaneFindings[]
  readonly revertedTransactions: number
  /**
   * Number of transactions of the given lanes that contain no delivery: no-ops, reverted calls, and foreign uses of a
   * lane's key.
   */
  readonly wastedTransactions: number
  readonly nonceHoles: number
  readonly maxPerLanePerBlock: number
  /** wei that the lanes paid for gas, by chain. */
  readonly gasPaid: Readonly<Record<string, bigint>>
  readonly gasPerTransaction: number
  /** Fees that deliveries of the given lanes earned, by the token's origin. 18 decimals. */
  readonly feesEarned: Readonly<Record<string, bigint>>
}

const abi = new Interface([
  'event TransferRedeemed(uint16 indexed emitterChainId, bytes32 indexed emitterAddress, uint64 indexed sequence)',
  'function balanceOf(address owner) view returns (uint256)',
])

/** Judges all transfers by the state of the chains at their current heads. Throws the provider's errors. */
export async function check(input: CheckInput): Promise<CheckResult> {
  const providers = new Map(Object.entries(input.chains).map(([name, { url }]) => [name, provider(url)]))
  try {
    const laneNames = Object.entries(input.lanes ?? {})
    const paidFor = input.executor?.transfers.flatMap((one) => one.paidFor ?? []) ?? []
    const [paidNtts, paidBurns] = [paidFor.filter((one) => 'messages' in one), paidFor.filter((one) => 'version' in one)]
    const [perChain, native, ntt, paidNtt, cctp, lanes] = await Promise.all([
      Promise.all([...providers].map(([name, node]) => judge(input, name, node))),
      input.native ? judgeNative(input.native, providers) : { findings: [], foreignCompletions: 0, untold: { lost: 0, duplicates: 0 } },
      input.ntt ? judgeNtt(input.ntt, providers) : { findings: [], foreign: 0, sources: [] },
      input.executor?.ntt
        ? judgeNtt({ transfers: paidNtts, ends: input.executor.ntt }, providers)
        : { findings: [], foreign: 0, sources: [] },
      input.cctp
        ? judgeCctp({ ...input.cctp, transfers: [...input.cctp.transfers, ...paidBurns] }, providers)
        : { findings: [], foreign: 0, sources: [] },
      Promise.all(laneNames.flatMap(([chain, list]) => list.map((address) => checkLane(of(providers, chain), chain, address)))),
    ])
    const findings = new Map([...paidNtt.findings, ...cctp.findings].map((one) => [one.transfer, one]))
    const products = { findings, sources: [...paidNtt.sources, ...cctp.sources] }
    const executor = input.executor ? await judgeExecutions(input.executor, providers, products) : { findings: [], foreign: 0 }
    const free = { ...cctp, findings: cctp.findings.filter(({ transfer }) => !paidFor.includes(transfer)) }
    const paid = { ...executor, foreign: executor.foreign + paidNtt.foreign }
    return summarize(perChain.flat(), { native, ntt, executor: paid, cctp: free }, lanes)
  } finally {
    for (const node of providers.values()) node.destroy()
  }
}

async function judge(input: CheckInput, chain: string, node: Provider): Promise<TransferFinding[]> {
  const transfers = input.transfers.filter(({ target }) => target === chain)
  const tokenBridge = input.chains[chain]?.tokenBridge ?? ''
  const logs = await node.getLogs({ address: tokenBridge, topics: [abi.getEvent('TransferRedeemed')?.topicHash ?? ''], fromBlock: 0 })
  const byMessage = new Map<string, Log[]>()
  for (const log of logs) {
    const { emitterChainId, emitterAddress, sequence } = abi.parseLog(log)?.args.toObject() ?? {}
    const key = `${emitterChainId}/${String(emitterAddress).slice(2)}/${sequence}`
    byMessage.set(key, [...(byMessage.get(key) ?? []), log])
  }
  return Promise.all(
    transfers.map((transfer) =>
      find(node, transfer, byMessage.get(`${transfer.emitterChain}/${transfer.emitter}/${transfer.sequence}`) ?? []),
    ),
  )
}

async function find(node: Provider, transfer: SentTransfer, logs: readonly Log[]): Promise<TransferFinding> {
  const [transactions, block, balance] = await Promise.all([
    Promise.all(logs.map((log) => node.getTransaction(log.transactionHash))),
    logs[0] ? node.getBlock(logs[0].blockNumber) : undefined,
    balanceOf(node, transfer),
  ])
  return {
    transfer,
    redeemed: logs.length,
    redeemedBy: transactions.map((transaction) => transaction?.from.toLowerCase() ?? 'unknown'),
    txHashes: logs.map((log) => log.transactionHash),
    blockHeight: logs[0]?.blockNumber,
    latencyMs: block ? (block.timestamp - transfer.sentAt) * 1000 : undefined,
    balance,
    expected: transfer.amount - transfer.fee,
  }
}

function balanceOf(node: Provider, { asset, recipient }: SentTransfer): Promise<bigint> {
  if (asset === 'coin') return node.getBalance(recipient)
  return new Contract(asset, abi, node).getFunction('balanceOf')(recipient) as Promise<bigint>
}

interface Judged {
  readonly chain: string
  readonly effects: number
  readonly by: readonly string[]
  readonly txHashes: readonly string[]
  readonly right: boolean
}

interface Verdicts {
  readonly native: NativeVerdict
  readonly ntt: NttVerdict
  readonly executor: ExecutionVerdict
  readonly cctp: CctpVerdict
}

function summarize(
  findings: readonly TransferFinding[],
  { native, ntt, executor, cctp }: Verdicts,
  lanes: readonly LaneFindings[],
): CheckResult {
  const ours = new Set(lanes.map(({ chain, address }) => `${chain}/${address}`))
  const wormhole = [...ntt.findings.map(judgedNtt), ...executor.findings.map(judgedExecution)]
  const others = [...native.findings.map(judgedNative), ...wormhole, ...cctp.findings.map(judgedCctp)]
  const judged = [...judgedOf(findings), ...others]
  const deliveredBy: Record<string, number> = {}
  for (const { by } of judged) if (by[0] !== undefined) deliveredBy[by[0]] = (deliveredBy[by[0]] ?? 0) + 1
  const feesEarned: Record<string, bigint> = {}
  for (const { redeemedBy, transfer } of findings) {
    if (!ours.has(`${transfer.target}/${redeemedBy[0]}`)) continue
    feesEarned[transfer.origin] = (feesEarned[transfer.origin] ?? 0n) + transfer.fee
  }
  const gasPaid: Record<string, bigint> = {}
  for (const lane of lanes) gasPaid[lane.chain] = (gasPaid[lane.chain] ?? 0n) + lane.gasPaid
  return {
    transfers: judged.length,
    delivered: judged.filter(({ effects, right }) => effects === 1 && right).length,
    lost: judged.filter(({ effects }) => effects === 0).length + native.untold.lost,
    duplicates: judged.filter(({ effects }) => effects > 1).length + native.untold.duplicates,
    wrongBalances: judged.filter(({ effects, right }) => effects > 0 && !right).length,
    foreignCompletions: native.foreignCompletions + ntt.foreign + executor.foreign + cctp.foreign,
    deliveredBy,
    findings,
    nativeFindings: native.findings,
    nttFindings: ntt.findings,
    executionFindings: executor.findings,
    cctpFindings: cctp.findings,
    lanes,
    revertedTransactions: lanes.reduce((sum, lane) => sum + lane.reverted, 0),
    wastedTransactions: lanes.reduce((sum, lane) => sum + lane.transactions, 0) - ourDeliveries(judged, ours),
    nonceHoles: lanes.reduce((sum, lane) => sum + lane.holes, 0),
    maxPerLanePerBlock: Math.max(0, ...lanes.map((lane) => lane.maxPerBlock)),
    gasPaid,
    gasPerTransaction: gasPerTransaction(lanes),
    feesEarned,
  }
}

function gasPerTransaction(lanes: readonly LaneFindings[]): number {
  const transactions = lanes.reduce((sum, lane) => sum + lane.transactions, 0)
  const used = lanes.reduce((sum, lane) => sum + lane.gasUsed, 0n)
  return transactions === 0 ? 0 : Math.round(Number(used) / transactions)
}

function judgedOf(findings: readonly TransferFinding[]): Judged[] {
  const together = new Map<string, TransferFinding[]>()
  for (const finding of findings) together.set(place(finding.transfer), [...(together.get(place(finding.transfer)) ?? []), finding])
  return findings.map(({ transfer, redeemed, redeemedBy, txHashes, balance }) => ({
    ...{ chain: transfer.target, effects: redeemed, by: redeemedBy, txHashes },
    right: balance === arrived(together.get(place(transfer)) ?? []),
  }))
}

/** Expected balance of one recipient. Transfers without a redemption do not count. */
function arrived(findings: readonly TransferFinding[]): bigint {
  return findings.filter(({ redeemed }) => redeemed > 0).reduce((sum, { expected }) => sum + expected, 0n)
}

function judgedNative({ transfer, completed, completedBy, txHashes, balance, expected }: NativeFinding): Judged {
  return { chain: transfer.target, effects: completed, by: completedBy, txHashes, right: balance === expected }
}

function judgedNtt({ transfer, redeemed, redeemedBy, txHashes, executed, balance, expected }: NttFinding): Judged {
  return { chain: transfer.target, effects: redeemed, by: redeemedBy, txHashes, right: executed && balance === expected }
}

function judgedExecution({ transfer, received, receivedBy, txHashes, paid, whole, balance, expected }: ExecutionFinding): Judged {
  return { chain: transfer.target, effects: received, by: receivedBy, txHashes, right: paid && whole && balance === expected }
}

function judgedCctp({ transfer, received, receivedBy, txHashes, used, balance, expected }: CctpFinding): Judged {
  return { chain: transfer.target, effects: received, by: receivedBy, txHashes, right: used && balance === expected }
}

function ourDeliveries(judged: readonly Judged[], ours: ReadonlySet<string>): number {
  return new Set(judged.flatMap(({ chain, by, txHashes }) => (ours.has(`${chain}/${by[0]}`) ? [`${chain}/${txHashes[0]}`] : []))).size
}

function place({ target, asset, recipient }: SentTransfer): string {
  return `${target}/${asset}/${recipient}`
}

function of(providers: ReadonlyMap<string, JsonRpcProvider>, chain: string): JsonRpcProvider {
  const node = providers.get(chain)
  if (!node) throw new Error(`The checker was given lanes of ${chain}, but no node of it`)
  return node
}
