import { Contract, Interface, type JsonRpcProvider, type Log } from 'ethers'
import type { SentNttTransfer } from '../devnet/ntt/ntt-users.ts'

export interface NttCheckInput {
  readonly transfers: readonly SentNttTransfer[]
  /** By chain name. The token goes in both directions between the two chains. */
  readonly ends: Readonly<Record<string, { readonly manager: string; readonly token: string }>>
}

export interface NttFinding {
  readonly transfer: SentNttTransfer
  /**
   * Number of TransferRedeemed events with the transfer's digest. The manager emits the event when it pays. Correct: 1.
   */
  readonly redeemed: number
  readonly redeemedBy: readonly string[]
  readonly txHashes: readonly string[]
  readonly blockHeight: number | undefined
  readonly latencyMs: number | undefined
  readonly executed: boolean
  /** `balance`: the recipient's tokens on the target. `expected`: the sum of all transfers to the recipient. */
  readonly balance: bigint
  readonly expected: bigint
}

export interface NttVerdict {
  readonly findings: readonly NttFinding[]
  /** Number of digests for which a manager paid although no manager sent such a message. */
  readonly foreign: number
  /** Hashes of the source transactions of all payments. */
  readonly sources: readonly string[]
}

const abi = new Interface([
  'event TransferSent(bytes32 indexed digest)',
  'event TransferRedeemed(bytes32 indexed digest)',
  'function isMessageExecuted(bytes32 digest) view returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
])

/** Judges NTT transfers by the managers' events and views, and by balances. Throws the provider's errors. */
export async function judgeNtt({ transfers, ends }: NttCheckInput, providers: ReadonlyMap<string, JsonRpcProvider>): Promise<NttVerdict> {
  const judged = await Promise.all(
    Object.entries(ends).map(async ([chain, { manager, token }]) => {
      const node = providers.get(chain)
      if (!node) throw new Error(`The checker was given NTT on ${chain}, but no node of it`)
      const [sent, redeemed] = await Promise.all([events(node, manager, 'TransferSent'), events(node, manager, 'TransferRedeemed')])
      const own = transfers.filter(({ target }) => target === chain)
      const contracts = { manager: new Contract(manager, abi, node), token: new Contract(token, abi, node) }
      const findings = await Promise.all(own.map((one) => find(node, contracts, one, { own, redeemed })))
      return { findings, sent, redeemed: digestsOf(redeemed) }
    }),
  )
  const sent = new Map(judged.flatMap((one) => one.sent).map(({ topics, transactionHash }) => [topics[1], transactionHash]))
  const redeemed = judged.flatMap((one) => one.redeemed)
  return {
    findings: judged.flatMap(({ findings }) => findings),
    foreign: redeemed.filter((digest) => !sent.has(digest)).length,
    sources: redeemed.flatMap((digest) => sent.get(digest) ?? []),
  }
}

async function find(
  node: JsonRpcProvider,
  { manager, token }: { readonly manager: Contract; readonly token: Contract },
  transfer: SentNttTransfer,
  { own, redeemed }: { readonly own: readonly SentNttTransfer[]; readonly redeemed: readonly Log[] },
): Promise<NttFinding> {
  const { digest, recipient, sentAt } = transfer
  const logs = redeemed.filter(({ topics }) => topics[1] === digest)
  const [transactions, block, executed, balance] = await Promise.all([
    Promise.all(logs.map(({ transactionHash }) => node.getTransaction(transactionHash))),
    logs[0] && node.getBlock(logs[0].blockNumber),
    manager.getFunction('isMessageExecuted')(digest) as Promise<boolean>,
    token.getFunction('balanceOf')(recipient) as Promise<bigint>,
  ])
  return {
    transfer,
    redeemed: logs.length,
    redeemedBy: transactions.map((transaction) => transaction?.from.toLowerCase() ?? 'unknown'),
    txHashes: logs.map(({ transactionHash }) => transactionHash),
    blockHeight: logs[0]?.blockNumber,
    latencyMs: block ? (block.timestamp - sentAt) * 1000 : undefined,
    ...{ executed, balance },
    expected: own.filter((one) => one.recipient === recipient).reduce((sum, { amount }) => sum + amount, 0n),
  }
}

function events(from: JsonRpcProvider, address: string, name: string): Promise<Log[]> {
  return from.getLogs({ address, topics: [abi.getEvent(name)?.topicHash ?? ''], fromBlock: 0 })
}

function digestsOf(logs: readonly Log[]): string[] {
  return logs.flatMap(({ topics }) => topics[1] ?? [])
}
