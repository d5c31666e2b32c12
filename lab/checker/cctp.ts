import { Contract, dataSlice, getBytes, hexlify, Interface, type JsonRpcProvider, keccak256, type Log, toBigInt } from 'ethers'
import type { SentBurn } from '../devnet/cctp/cctp-users.ts'

export interface CctpCheckInput {
  readonly transfers: readonly SentBurn[]
  /** Ends by chain name. `transmitters`: the transmitter of version 1, then the transmitter of version 2. */
  readonly ends: Readonly<
    Record<string, { readonly domain: number; readonly transmitters: readonly [string, string]; readonly token: string }>
  >
}

export interface CctpFinding {
  readonly transfer: SentBurn
  /** Number of MessageReceived events with the burn's version, recipient and amount. Correct: 1. */
  readonly received: number
  readonly receivedBy: readonly string[]
  readonly txHashes: readonly string[]
  readonly blockHeight: number | undefined
  readonly latencyMs: number | undefined
  /** Whether the transmitter's usedNonces is 1 for the received message. */
  readonly used: boolean
  /** `balance`: the recipient's tokens on the target. `expected`: the sum of all mints to the recipient. */
  readonly balance: bigint
  readonly expected: bigint
}

export interface CctpVerdict {
  readonly findings: readonly CctpFinding[]
  /** Number of received messages that no MessageTransmitter sent. */
  readonly foreign: number
  /** Hashes of the source transactions of the received messages, except the `foreign` ones, which have none. */
  readonly sources: readonly string[]
}

const receivedAbis = [
  new Interface([
    'event MessageReceived(address indexed caller, uint32 sourceDomain, uint64 indexed nonce, bytes32 sender, bytes messageBody)',
  ]),
  new Interface([
    'event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finality, bytes messageBody)',
  ]),
] as const
const abi = new Interface([
  'event MessageSent(bytes message)',
  'function usedNonces(bytes32 key) view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
])

/** Offsets in the message body of a burn, bytes. Only version 2 has the fee. */
const at = { recipient: 48, amount: 68, fee: 164 } as const

interface Received {
  readonly log: Log
  readonly transmitter: string
  readonly usedKey: string
  readonly burn: string
  readonly paid: bigint
}

/** Judges burns by the transmitters' events, their used nonces, and balances. Throws the provider's errors. */
export async function judgeCctp(
  { transfers, ends }: CctpCheckInput,
  providers: ReadonlyMap<string, JsonRpcProvider>,
): Promise<CctpVerdict> {
  const named = Object.entries(ends).map(([chain, end]) => {
    const node = providers.get(chain)
    if (!node) throw new Error(`The checker was given CCTP on ${chain}, but no node of it`)
    return { chain, node, ...end }
  })
  const sent = new Map((await Promise.all(named.map(({ node, transmitters }) => sentBy(node, transmitters)))).flat())
  const judged = await Promise.all(
    named.map(async ({ chain, node, transmitters, token }) => {
      const received = await receivedBy(node, transmitters)
      const own = transfers.filter(({ target }) => target === chain)
      const findings = await Promise.all(own.map((one) => find({ node, token }, one, received)))
      return { findings, received: received.map(({ burn }) => sent.get(burn)) }
    }),
  )
  const received = judged.flatMap((one) => one.received)
  const sources = received.flatMap((txHash) => txHash ?? [])
  return { findings: judged.flatMap((one) => one.findings), foreign: received.length - sources.length, sources }
}

/** Key of a burn. The version, recipient and amount of a burn are unique in a run. */
function burnOf(version: number, body: string): string {
  return `${version} ${dataSlice(body, at.recipient, at.recipient + 20)} ${dataSlice(body, at.amount, at.amount + 32)}`
}

async function sentBy(node: JsonRpcProvider, transmitters: readonly string[]): Promise<[string, string][]> {
  const all = await Promise.all(
    transmitters.map(async (address, index) => {
      const logs = await node.getLogs({ address, topics: [abi.getEvent('MessageSent')?.topicHash ?? ''], fromBlock: 0 })
      return logs.map(({ data, transactionHash }): [string, string] => [
        burnOf(index + 1, bodyOf(index + 1, String(abi.decodeEventLog('MessageSent', data)[0]))),
        transactionHash,
      ])
    }),
  )
  return all.flat()
}

function bodyOf(version: number, message: string): string {
  return dataSlice(message, version === 1 ? 116 : 148)
}

async function receivedBy(node: JsonRpcProvider, transmitters: readonly string[]): Promise<Received[]> {
  const all = await Promise.all(
    transmitters.map(async (transmitter, index) => {
      const events = receivedAbis[index]
      const topic = events?.getEvent('MessageReceived')?.topicHash ?? ''
      const logs = await node.getLogs({ address: transmitter, topics: [topic], fromBlock: 0 })
      return logs.map((log) => {
        const { sourceDomain, nonce, messageBody } = events?.parseLog(log)?.args.toObject() ?? {}
        const body = String(messageBody)
        const fee = index === 0 ? 0n : toBigInt(dataSlice(body, at.fee, at.fee + 32))
        const amount = toBigInt(dataSlice(body, at.amount, at.amount + 32))
        const key = index === 0 ? keccak256(numbers([Number(sourceDomain), 4], [nonce as bigint, 8])) : String(nonce)
        return { log, transmitter, usedKey: key, burn: burnOf(index + 1, body), paid: amount - fee }
      })
    }),
  )
  return all.flat()
}

function numbers(...values: readonly (readonly [value: bigint | number, bytes: number])[]): string {
  return `0x${values.map(([value, bytes]) => value.toString(16).padStart(2 * bytes, '0')).join('')}`
}

async function find(
  { node, token }: { readonly node: JsonRpcProvider; readonly token: string },
  transfer: SentBurn,
  all: readonly Received[],
): Promise<CctpFinding> {
  const { version, message, recipient, sentAt } = transfer
  const own = burnOf(version, bodyOf(version, hexlify(getBytes(message))))
  const received = all.filter(({ burn }) => burn === own)
  const [first] = received
  const [transactions, block, used, balance] = await Promise.all([
    Promise.all(received.map(({ log }) => node.getTransaction(log.transactionHash))),
    first && node.getBlock(first.log.blockNumber),
    Promise.all(received.map(({ transmitter, usedKey }) => view(node, transmitter, 'usedNonces', usedKey))),
    view(node, token, 'balanceOf', recipient),
  ])
  const recipientDigits = recipient.toLowerCase()
  return {
    transfer,
    received: received.length,
    receivedBy: transactions.map((transaction) => transaction?.from.toLowerCase() ?? 'unknown'),
    txHashes: received.map(({ log }) => log.transactionHash),
    blockHeight: first?.log.blockNumber,
    latencyMs: block ? (block.timestamp - sentAt) * 1000 : undefined,
    used: used.length > 0 && used.every((one) => one === 1n),
    balance,
    expected: all.filter(({ burn }) => burn.includes(` ${recipientDigits} `)).reduce((sum, { paid }) => sum + paid, 0n),
  }
}

function view(node: JsonRpcProvider, address: string, name: 'usedNonces' | 'balanceOf', argument: string): Promise<bigint> {
  return new Contract(address, abi, node).getFunction(name)(argument) as Promise<bigint>
}
