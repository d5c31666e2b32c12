import { dataLength, dataSlice, Interface, type JsonRpcProvider, keccak256, type Log, recoverAddress, toBeHex, zeroPadValue } from 'ethers'
import type { SentBurn } from '../devnet/cctp/cctp-users.ts'
import type { SentExecution } from '../devnet/executor/network.ts'
import type { SentNttTransfer } from '../devnet/ntt/ntt-users.ts'
import type { CctpFinding } from './cctp.ts'
import type { NttCheckInput, NttFinding } from './ntt.ts'

export interface ExecutorCheckInput {
  readonly transfers: readonly SentExecution[]
  readonly quoter: string
  /** By chain name. Requests go in both directions between the two chains. */
  readonly ends: Readonly<
    Record<
      string,
      { readonly core: string; readonly executor: string; readonly sender: string; readonly receiver: string; readonly payee: string }
    >
  >
  /** NTT contracts of the transfers whose deliveries are paid for. */
  readonly ntt?: NttCheckInput['ends'] | undefined
}

interface Products {
  readonly findings: ReadonlyMap<SentNttTransfer | SentBurn, NttFinding | CctpFinding>
  readonly sources: readonly string[]
}

export interface ExecutionFinding {
  readonly transfer: SentExecution
  /** Number of deliveries of the request. Correct: 1. */
  readonly received: number
  readonly receivedBy: readonly string[]
  readonly txHashes: readonly string[]
  readonly blockHeight: number | undefined
  readonly latencyMs: number | undefined
  /** wei at the receiver, or at the recipient of the drop-off. */
  readonly balance: bigint
  readonly expected: bigint
  /** Whether the request's event shows the user's payment, and the payee has received the sum of all payments. */
  readonly paid: boolean
  /**
   * Whether the paid transfer arrived in full, with no more gas and coins than were paid for. Always true if the
   * request pays for a message.
   */
  readonly whole: boolean
}

export interface ExecutionVerdict {
  readonly findings: readonly ExecutionFinding[]
  /**
   * Number of deliveries that nobody paid for, plus the number of messages delivered with more gas or coins than were
   * paid for.
   */
  readonly foreign: number
}

const abi = new Interface([
  'event RequestForExecution(address indexed quoter, uint256 amtPaid, uint16 dstChain, bytes32 dstAddr, address refundAddr, bytes signedQuote, bytes requestBytes, bytes relayInstructions)',
  'event LogMessagePublished(address indexed sender, uint64 sequence, uint32 nonce, bytes payload, uint8 consistencyLevel)',
  'event Received(bytes32 indexed digest, address indexed by, uint256 value, bytes payload)',
])

interface Request {
  readonly txHash: string
  readonly amount: bigint
  /** Payload of the requested message. Empty if the message is unknown. */
  readonly payload: string
  readonly payee: string
  /** Gas units and wei that the payment covers. Undefined if the payment is too low or another quoter signed. */
  readonly bought: { readonly gas: bigint; readonly coins: bigint } | undefined
}

/** Judges paid requests by the events of both chains, and by balances. Throws the provider's errors. */
export async function judgeExecutions(
  input: ExecutorCheckInput,
  providers: ReadonlyMap<string, JsonRpcProvider>,
  { findings: paidFindings, sources }: Products,
): Promise<ExecutionVerdict> {
  const chains = await readChains(input, providers)
  const requests = chains.flatMap((one) => one.requests.map((request) => ({ ...request, isEven: one.isEven })))
  const isBought = async ({ node, received }: Awaited<ReturnType<typeof readChains>>[number]) =>
    Promise.all(
      received.map(async ({ log, args }) => {
        const ofMessage = requests.flatMap(({ bought, payload }) => (payload === args['payload'] ? [bought] : []))
        return isWithin(node, log.transactionHash, ofMessage)
      }),
    )
  const areBought = (await Promise.all(chains.map(isBought))).flat()
  const isUnpaid = (source: string) => {
    const own = requests.filter(({ txHash }) => txHash === source)
    return own.length > 0 && own.every(({ bought }) => !bought)
  }
  const findings = chains.flatMap(({ chain, node, received }) =>
    input.transfers
      .filter(({ target }) => target === chain)
      .map(async (transfer): Promise<ExecutionFinding> => {
        const { payload, paidFor, txHash, dropOff, msgValue } = transfer
        const own = requests.filter((one) => one.txHash === txHash)
        const paid = own.some((one) => one.bought && one.isEven && one.amount === transfer.paid)
        const common = { transfer, expected: msgValue + dropOff, paid }
        if (!paidFor)
          return {
            ...common,
            ...(await findMessage(
              node,
              transfer,
              received.filter(({ args }) => args['payload'] === payload),
            )),
          }
        return {
          ...common,
          ...(await findTransfer(
            node,
            transfer,
            paidFindings.get(paidFor),
            own.map(({ bought }) => bought),
          )),
        }
      }),
  )
  return {
    findings: await Promise.all(findings),
    foreign: areBought.filter((is) => !is).length + sources.filter(isUnpaid).length,
  }
}

function readChains(input: ExecutorCheckInput, providers: ReadonlyMap<string, JsonRpcProvider>) {
  return Promise.all(
    Object.keys(input.ends).map(async (chain) => {
      const node = providers.get(chain)
      const end = input.ends[chain]
      if (!node || !end) throw new Error(`The checker was given an Executor on ${chain}, but no node of it`)
      const [requests, received] = await Promise.all([requestsOn(node, end, input.quoter), events(node, end.receiver, 'Received')])
      const ours = requests.filter(({ payee }) => payee === end.payee)
      const sum = ours.reduce((total, { amount }) => total + amount, 0n)
      const isEven = (await node.getBalance(end.payee)) === sum
      return { chain, node, requests, isEven, received: received.map((log) => ({ log, args: abi.parseLog(log)?.args.toObject() ?? {} })) }
    }),
  )
}

async function isWithin(node: JsonRpcProvider, txHash: string, bought: readonly Request['bought'][]): Promise<boolean> {
  const { gasLimit = 0n, value = 0n } = (await node.getTransaction(txHash)) ?? {}
  return bought.some((one) => one && gasLimit <= one.gas && value <= one.coins)
}

type Found = Omit<ExecutionFinding, 'transfer' | 'expected' | 'paid'>

async function findMessage(
  node: JsonRpcProvider,
  { recipient, sentAt }: SentExecution,
  own: readonly { readonly log: Log; readonly args: Record<string, unknown> }[],
): Promise<Found> {
  const logs = own.map(({ log }) => log)
  const [transactions, block, dropped] = await Promise.all([
    Promise.all(logs.map(({ transactionHash }) => node.getTransaction(transactionHash))),
    logs[0] && node.getBlock(logs[0].blockNumber),
    node.getBalance(recipient),
  ])
  return {
    ...{ received: own.length, whole: true },
    receivedBy: transactions.map((transaction) => transaction?.from.toLowerCase() ?? 'unknown'),
    txHashes: logs.map(({ transactionHash }) => transactionHash),
    blockHeight: logs[0]?.blockNumber,
    latencyMs: block ? (block.timestamp - sentAt) * 1000 : undefined,
    balance: own.reduce((sum, { args }) => sum + BigInt(String(args['value'])), dropped),
  }
}

/** Finds the delivery that a request pays for. `bought`: gas and coins that the source transaction paid for. */
async function findTransfer(
  node: JsonRpcProvider,
  { recipient }: SentExecution,
  finding: NttFinding | CctpFinding | undefined,
  bought: readonly Request['bought'][],
): Promise<Found> {
  if (!finding) throw new Error('The checker was not given the product of a paid transfer')
  const { txHashes, blockHeight, latencyMs } = finding
  const [received, receivedBy, isDone] =
    'redeemed' in finding ? [finding.redeemed, finding.redeemedBy, finding.executed] : [finding.received, finding.receivedBy, finding.used]
  const [balance, ...within] = await Promise.all([node.getBalance(recipient), ...txHashes.map((hash) => isWithin(node, hash, bought))])
  const whole = isDone && finding.balance === finding.expected && within.every(Boolean)
  return { received, receivedBy, txHashes, blockHeight, latencyMs, balance, whole }
}

async function requestsOn(
  node: JsonRpcProvider,
  { core, executor, sender }: ExecutorCheckInput['ends'][string],
  quoter: string,
): Promise<Request[]> {
  const emitter = zeroPadValue(sender, 32)
  const [logs, messages] = await Promise.all([
    events(node, executor, 'RequestForExecution'),
    events(node, core, 'LogMessagePublished', [emitter]),
  ])
  const payloads = new Map(
    messages.map((log) => {
      const { sequence, payload } = abi.parseLog(log)?.args.toObject() ?? {}
      return [toBeHex(sequence, 8), String(payload)]
    }),
  )
  return logs.map((log) => {
    const { amtPaid, signedQuote, requestBytes, relayInstructions } = abi.parseLog(log)?.args.toObject() ?? {}
    const isOurs = dataLength(requestBytes) === 46 && dataSlice(requestBytes, 6, 38) === emitter
    return {
      txHash: log.transactionHash,
      amount: BigInt(amtPaid),
      payload: (isOurs && payloads.get(dataSlice(requestBytes, 38))) || '',
      payee: dataSlice(signedQuote, 36, 56),
      bought: boughtBy(String(signedQuote), String(relayInstructions), { quoter, amount: BigInt(amtPaid) }),
    }
  })
}

/**
 * Gas and coins that the request asks for. Undefined if the payment does not cover them, another quoter signed, or the
 * bytes cannot be read.
 */
function boughtBy(
  quote: string,
  instructions: string,
  { quoter, amount }: { readonly quoter: string; readonly amount: bigint },
): Request['bought'] {
  try {
    const signer = recoverAddress(keccak256(dataSlice(quote, 0, 100)), dataSlice(quote, 100))
    const wanted = wantedBy(instructions)
    return signer.toLowerCase() === quoter && amount >= priceOf(quote, wanted) ? wanted : undefined
  } catch {
    return undefined
  }
}

/** Price in wei of the source chain. Both coins have 18 decimals, and the quote's numbers have 10. */
function priceOf(quote: string, { gas, coins }: NonNullable<Request['bought']>): bigint {
  const [baseFee, gasPrice, sourcePrice, targetPrice] = [68, 76, 84, 92].map((at) => numberIn(quote, at, 8)) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  return baseFee * 10n ** 8n + ((gas * gasPrice + coins) * targetPrice + sourcePrice - 1n) / sourcePrice
}

/** Reads one gas instruction, with or without a drop-off after the instruction. */
function wantedBy(instructions: string): NonNullable<Request['bought']> {
  const dropOff = instructions.length > 2 + 2 * 33 ? numberIn(instructions, 34, 16) : 0n
  return { gas: numberIn(instructions, 1, 16), coins: numberIn(instructions, 17, 16) + dropOff }
}

function numberIn(bytes: string, from: number, size: number): bigint {
  return BigInt(dataSlice(bytes, from, from + size))
}

function events(from: JsonRpcProvider, address: string, name: string, more: readonly string[] = []): Promise<Log[]> {
  return from.getLogs({ address, topics: [abi.getEvent(name)?.topicHash ?? '', ...more], fromBlock: 0 })
}
