import { concat, Contract, dataSlice, Interface, type JsonRpcProvider, type Log, zeroPadBytes } from 'ethers'
import type { SentNativeTransfer } from '../devnet/native/native-users.ts'

export interface NativeCheckInput {
  readonly transfers: readonly SentNativeTransfer[]
  /** By chain name. The bridge goes in both directions between the two chains. */
  readonly ends: Readonly<Record<string, { readonly bridge: string; readonly token: string }>>
}

export interface NativeFinding {
  readonly transfer: SentNativeTransfer
  /** Number of BridgeTransferCompleted events with all values of the transfer. Correct: 1. */
  readonly completed: number
  readonly completedBy: readonly string[]
  readonly txHashes: readonly string[]
  readonly blockHeight: number | undefined
  readonly latencyMs: number | undefined
  /** `balance`: the recipient's tokens on the target. `expected`: the sum of all transfers to the recipient. */
  readonly balance: bigint
  readonly expected: bigint
}

export interface NativeVerdict {
  readonly findings: readonly NativeFinding[]
  /** Number of completions that no user initiated, or that differ from the initiated transfer with the same id. */
  readonly foreignCompletions: number
  /**
   * Initiated transfers that are missing from `transfers`. `lost`: number without a completion. `duplicates`: number
   * with several completions.
   */
  readonly untold: { readonly lost: number; readonly duplicates: number }
}

const abi = new Interface([
  'event BridgeTransferInitiated(bytes32 indexed bridgeTransferId, address indexed originator, bytes32 indexed recipient, uint256 amount, uint256 nonce)',
  'event BridgeTransferCompleted(bytes32 indexed bridgeTransferId, bytes32 indexed originator, address indexed recipient, uint256 amount, uint256 nonce)',
  'function balanceOf(address owner) view returns (uint256)',
])

/** The arguments of both events. `initiator` has 20 bytes, followed by zeros. */
type EventArguments = [id: string, initiator: string, recipient: string, amount: bigint, nonce: bigint]

interface Completed {
  readonly event: EventArguments
  readonly log: Log
}

/** Judges native transfers by the events of both chains, and by balances. Throws the provider's errors. */
export async function judgeNative(input: NativeCheckInput, providers: ReadonlyMap<string, JsonRpcProvider>): Promise<NativeVerdict> {
  const names = Object.keys(input.ends)
  const [initiated, completed] = await Promise.all([
    Promise.all(names.map((name) => initiations(input, name, providers))).then((lists) => new Set(lists.flat())),
    Promise.all(names.map(async (name) => [name, await completions(input, name, providers)] as const)),
  ])
  const all = completed.flatMap(([chain, list]) => list.map(({ event }) => [sourceOf(names, chain), event] as const))
  const findings = await Promise.all(completed.map(([chain, list]) => findAll(input, chain, list, node(providers, chain))))
  return {
    findings: findings.flat(),
    // There are only two chains, so a completion on one was initiated on the other.
    foreignCompletions: all.filter(([source, event]) => !initiated.has(keyOf(source, event))).length,
    untold: judgeUntold(
      initiated,
      input.transfers,
      all.map(([source, event]) => keyOf(source, event)),
    ),
  }
}

/**
 * Counts the lost and the repeated transfers among the transfers that no user reported. Those must arrive exactly once
 * too.
 */
function judgeUntold(
  initiated: ReadonlySet<string>,
  transfers: readonly SentNativeTransfer[],
  completed: readonly string[],
): NativeVerdict['untold'] {
  const known = new Set(transfers.map((transfer) => keyOf(transfer.source, eventOf(transfer))))
  const times = new Map<string, number>()
  for (const key of completed) times.set(key, (times.get(key) ?? 0) + 1)
  const counts = [...initiated].filter((key) => !known.has(key)).map((key) => times.get(key) ?? 0)
  return { lost: counts.filter((count) => count === 0).length, duplicates: counts.filter((count) => count > 1).length }
}

async function initiations({ ends }: NativeCheckInput, chain: string, providers: ReadonlyMap<string, JsonRpcProvider>): Promise<string[]> {
  const logs = await events(node(providers, chain), ends[chain]?.bridge ?? '', 'BridgeTransferInitiated')
  return logs.map((log) => {
    const [id, initiator, recipient, amount, nonce] = argumentsOf(log)
    // In the initiating event, initiator and recipient have 20 and 32 bytes. In the completing event, they have 32 and
    // 20.
    return keyOf(chain, [id, concat([initiator, dataSlice(recipient, 0, 12)]), dataSlice(recipient, 12), amount, nonce])
  })
}

async function completions(
  { ends }: NativeCheckInput,
  chain: string,
  providers: ReadonlyMap<string, JsonRpcProvider>,
): Promise<Completed[]> {
  const logs = await events(node(providers, chain), ends[chain]?.bridge ?? '', 'BridgeTransferCompleted')
  return logs.map((log) => ({ log, event: argumentsOf(log) }))
}

function argumentsOf(log: Log): EventArguments {
  const event = abi.parseLog(log)
  if (!event) throw new Error(`The checker cannot read the event of ${log.transactionHash}`)
  return event.args.toArray() as EventArguments
}

function events(from: JsonRpcProvider, address: string, name: string): Promise<Log[]> {
  return from.getLogs({ address, topics: [abi.getEvent(name)?.topicHash ?? ''], fromBlock: 0 })
}

async function findAll(
  { transfers, ends }: NativeCheckInput,
  chain: string,
  completed: readonly Completed[],
  from: JsonRpcProvider,
): Promise<NativeFinding[]> {
  const ours = transfers.filter(({ target }) => target === chain)
  const byKey = new Map<string, Log[]>()
  const perRecipient = new Map<string, bigint>()
  for (const { event, log } of completed) byKey.set(keyOf('', event), [...(byKey.get(keyOf('', event)) ?? []), log])
  // A recipient may get several transfers, so the expected balance is their sum.
  for (const { recipient, amount } of ours) perRecipient.set(recipient, (perRecipient.get(recipient) ?? 0n) + amount)
  const senders = new Map<string, Promise<string>>()
  const times = new Map<number, Promise<number>>()
  const senderOf = (hash: string) => once(senders, hash, async () => (await from.getTransaction(hash))?.from.toLowerCase() ?? 'unknown')
  const timeOf = (height: number) => once(times, height, async () => (await from.getBlock(height))?.timestamp ?? 0)
  const token = new Contract(ends[chain]?.token ?? '', abi, from)
  return Promise.all(
    ours.map(async (transfer): Promise<NativeFinding> => {
      const logs = byKey.get(keyOf('', eventOf(transfer))) ?? []
      const [first] = logs
      return {
        transfer,
        completed: logs.length,
        completedBy: await Promise.all(logs.map(({ transactionHash }) => senderOf(transactionHash))),
        txHashes: logs.map(({ transactionHash }) => transactionHash),
        blockHeight: first?.blockNumber,
        latencyMs: first && ((await timeOf(first.blockNumber)) - transfer.sentAt) * 1000,
        balance: (await token.getFunction('balanceOf')(transfer.recipient)) as bigint,
        expected: perRecipient.get(transfer.recipient) ?? 0n,
      }
    }),
  )
}

function eventOf({ id, initiator, recipient, amount, nonce }: SentNativeTransfer): EventArguments {
  return [id, zeroPadBytes(initiator, 32), recipient, amount, nonce]
}

function keyOf(source: string, [id, initiator, recipient, amount, nonce]: EventArguments): string {
  return [source, id, initiator, recipient, amount, nonce].join('/').toLowerCase()
}

function sourceOf(names: readonly string[], target: string): string {
  return names.find((name) => name !== target) ?? ''
}

function once<K, V>(known: Map<K, Promise<V>>, key: K, read: () => Promise<V>): Promise<V> {
  const found = known.get(key) ?? read()
  known.set(key, found)
  return found
}

function node(providers: ReadonlyMap<string, JsonRpcProvider>, chain: string): JsonRpcProvider {
  const found = providers.get(chain)
  if (!found) throw new Error(`The checker was given a native bridge of ${chain}, but no node of it`)
  return found
}
