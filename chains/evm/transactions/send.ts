import { keccak256 } from 'ethers'
import type { SendErrorClass } from '../../../domain/lane/send-errors.ts'
import type { Chain, SendOutcome } from '../../port.ts'
import { toHash } from '../hex.ts'
import { RpcError } from '../nodes/node-errors.ts'
import type { NodeAnswer, Nodes } from '../nodes/nodes.ts'

/**
 * Precedence when the nodes disagree: the first class in this list wins. Classes after `ambiguous` lose to a node that
 * did not answer, because this node may have the transaction.
 */
const order: readonly SendErrorClass[] = [
  'nonce-too-low',
  'own-nonce-used',
  'replacement-underpriced',
  'ambiguous',
  'underpriced',
  'pool-limit',
  'nonce-too-high',
  'insufficient-funds',
  'fee-cap',
  'terminally-stuck',
  'fatal',
]

export function createSend(nodes: Nodes, errors: ErrorTexts | undefined, accepted: (hash: string) => void): Chain['send'] {
  const classify = createClassifier(errors)
  return async (raw, hash) => {
    const outcome = await sendRaw(nodes, classify, raw)
    if (outcome.kind === 'accepted') accepted(hash ?? keccak256(raw))
    return outcome
  }
}

/** Returns when one node has taken the transaction, or when all have answered or timed out. Never throws. */
export async function sendRaw(nodes: Nodes, classify: Classify, raw: string): Promise<SendOutcome> {
  const outcomes: { outcome: SendOutcome; reached: boolean; by?: string }[] = []
  try {
    await nodes.sendAll('eth_sendRawTransaction', [raw], readSent, (answer) => {
      const outcome = readAnswer(answer, classify)
      // Only a TransportError can prove that a node did not get the transaction.
      const reached = answer.ok || answer.error instanceof RpcError || answer.error.maybeReceived !== false
      outcomes.push({ outcome, reached, by: answer.name })
      return outcome.kind !== 'refused'
    })
  } catch (error) {
    outcomes.push({ outcome: refused('ambiguous', String(error)), reached: true })
  }
  const taken = outcomes.find(({ outcome }) => outcome.kind === 'accepted') ?? outcomes.find(({ outcome }) => outcome.kind === 'known')
  if (taken) return taken.outcome
  const reached = outcomes.filter((answer) => answer.reached)
  const said = (reached.length > 0 ? reached : outcomes).flatMap(({ outcome }) => (outcome.kind === 'refused' ? [outcome] : []))
  const [best] = said.toSorted((a, b) => order.indexOf(a.error) - order.indexOf(b.error))
  if (!best) return refused('ambiguous', 'No node of the chain took the transaction.')
  return nodes.areMostSenders(reached.flatMap(({ by = [] }) => by)) ? { ...best, mostAnswered: true } : best
}

const readSent = (value: unknown) => toHash(value, 'transaction hash')

function readAnswer(answer: NodeAnswer<string>, classify: Classify): SendOutcome {
  if (answer.ok) return { kind: 'accepted' }
  if (!(answer.error instanceof RpcError)) return refused('ambiguous', answer.error.message)
  const error = classify(answer.error.rpcMessage, answer.error.rpcCode)
  return error === 'already-known' ? { kind: 'known' } : refused(error, answer.error.rpcMessage)
}

function refused(error: SendErrorClass, message: string): SendOutcome & { kind: 'refused' } {
  return { kind: 'refused', error, message }
}

/**
 * Patterns for error texts in lower case. The first match wins. Gateways come first, because they may quote anything.
 * The comments name the clients with the text; a semicolon separates the clients of a pattern's alternatives. Sources:
 * chainlink-evm @0569f34c `pkg/client/errors.go`, go-ethereum core/txpool/errors.go, reth rpc-eth-types, foundry
 * anvil/src/eth/error.rs, Nethermind TxPoolErrorMessages, Besu's TransactionInvalidReason, Erigon
 * txnprovider/txpool/txpoolcfg/txpoolcfg.go (its RPC puts a class before each text: `FEE_TOO_LOW: underpriced`).
 */
const classes: readonly (readonly [SendErrorClass, ...RegExp[]])[] = [
  [
    'ambiguous',
    /502 bad gateway|503 service temporarily unavailable|504 gateway/, // gateways (Arbitrum)
    /408 request timeout|i\/o timeout|network is unreachable|timed? ?out|deadline exceeded|context canceled/, // Go clients, gateways
    /econnreset|econnrefused|etimedout|socket hang up|connection reset|fetch failed|no answer within/, // the network
  ],
  [
    'fatal',
    /intrinsic gas too (low|high)/, // go-ethereum, reth, zkSync (low); anvil (high)
    /intrinsic gas exceeds gas limit/, // Besu
    /exceeds (the )?block('s)? gas limit/, // go-ethereum, Besu, reth, zkSync
    /gas limit reached|gaslimitexceeded/, // Nethermind 2026; older Nethermind
    /gas limit too (low|high)/, // Monad; reth
    /intrinsicgas|gas limit is too high|gasuintoverflow|initcode too large/, // Erigon
    /exceeds maximum (gas|transaction gas)|transaction gas limit too high/, // go-ethereum and reth since Osaka (EIP-7825)
    /oversized data|input data too large|tx too large/, // go-ethereum, Optimism, zkSync; reth; Sei
    /transaction too large|maxtxsizeexceeded|rlptoolong/, // Nethermind; older Nethermind; Erigon
    /max(imum)? initcode size exceeded|max code size exceeded|initcode size limit/, // go-ethereum, anvil
    /invalid sender|failed ?to ?(resolve|recover) ?sender/, // go-ethereum; Nethermind
    /sender ?(is ?contract|(is )?not an eoa)/, // Nethermind; reth, go-ethereum
    /failed to decode (signed )?transaction|^rlp: /, // reth, anvil; go-ethereum
    /negative value/, // go-ethereum
    /gas uint64 overflow|int256overflow|transaction cost overflow|higher than 2\^64-1/, // go-ethereum; Nethermind; zkSync
    /invalid chain ?id/, // reth, anvil, go-ethereum
    /invalid[_ ]signature/, // Besu, Hedera
    /unsupported transaction type|transaction type not supported|transaction invalid$/, // Nethermind, go-ethereum
    /^"?invalid(, transaction hash is null)?\.?"?$/, // older Nethermind
    /invalid message format|forbidden sender address/, // Arbitrum
    /execution reverted/, // Arbitrum, Hedera: their sequencers first run the transaction
    /cyclic transaction detected/, // anvil
    /not enough gas for transaction validation|failed to pay the fee to the operator/, // zkSync
    /^"?out of gas/, // Sei
    /invalid shard|in (the )?blacklist/, // Harmony
  ],
  [
    'nonce-too-low',
    /nonce (is )?too low/, // go-ethereum, Erigon, Besu, reth, anvil, Arbitrum, Avalanche, zkSync, Hedera; Parity
    /oldnonce/, // older Nethermind
    /pool\(stale\)/, // Substrate (Moonriver)
    /invalid transaction nonce/, // Arbitrum
    /incorrect account sequence/, // Sei and other Cosmos chains
    /transaction already finalized/, // Harmony
  ],
  // Older Nethermind: another transaction has the nonce.
  ['own-nonce-used', /ownnoncealreadyused/],
  // go-ethereum. Must come before `replacement-underpriced`, because this message contains "replace".
  ['nonce-too-high', /future transaction tries to replace pending/],
  [
    'replacement-underpriced',
    /replacement transaction underpriced/, // go-ethereum, Erigon, Besu, Nethermind 2026, reth, anvil
    /insufficient gas price to replace/, // pools of reth and anvil
    /another (transaction|tx) (which has|with) (the )?same nonce/, // Parity; Klaytn
    /could not replace existing/, // Erigon
    /replacement (fee too low|not ?allowed)|replacementnotallowed/, // ethers; older Nethermind
  ],
  [
    'already-known',
    /already known|alreadyknown/, // go-ethereum, Nethermind; Gnosis
    /(?<!un)known transaction/, // Besu, Klaytn, zkSync, older go-ethereum
    /same hash was already imported/, // Parity
    /existing txn? with same hash/, // Erigon
    /already imported|alreadyimported/, // anvil, reth; Substrate
    /already exists in cache/, // Sei
    /already in the system/, // zkSync
  ],
  [
    'pool-limit',
    /tx ?pool is full/, // go-ethereum, Celo, Klaytn
    /account limit exceeded/, // go-ethereum
    /in-flight transaction limit reached/, // go-ethereum: accounts with a delegation (EIP-7702)
    /(address|authority) already reserved/, // go-ethereum: another pool holds the account
    /too many transactions in the queue/, // Parity
    /queue full|sequencer pending tx pool full/, // Arbitrum
    /sub-pool is full|(^|: )spammer$/, // Erigon
    /delegation authority has pending transaction|pending transaction type conflict/, // Nethermind 2026
    /node is syncing/, // Nethermind 2026: the node takes nothing for now
    /pool size constraints|identified as a spammer/, // reth
    /rate limit|too many requests/, // gateways
  ],
  [
    'underpriced',
    /transaction underpriced/, // go-ethereum, reth, Nethermind 2026
    /below (the )?configured minimum gas price/, // Besu, Hedera
    /gas price below minimum/, // Bor
    /feetoolow/, // older Nethermind
    /(^|: )underpriced$|fee too low/, // Erigon
    /gas ?price (\S+ )?(is )?(too low|less than gas price minimum floor)/, // Arbitrum; Celo
    /gas price.{0,80}too low/, // Parity, Metis
    /minimal gas price/, // Parity
    /use at least tx\.gasprice/, // Metis
    /below chain minimum|below minimum required priority fee/, // reth
    /max fee per gas less than block base fee|less than block base ?fee/, // go-ethereum, anvil, Arbitrum, zkSync
    /unacceptable gas price|fair pubdata price too high/, // zkSync
    /insufficient fee\b/, // Sei
  ],
  [
    'nonce-too-high',
    /nonce (is )?too high/, // go-ethereum, reth, anvil, Arbitrum, zkSync, Hedera
    /noncegap/, // older Nethermind
    /too distant from current sender nonce|transaction with a lower nonce exists/, // Besu
    /nonce too far in (the )?future/, // Nethermind 2026
    /delegation nonce gap/, // Nethermind 2026: accounts with a delegation
    /exceeds next nonce|nonce out of range|tx-nonce-too-high/, // openzeppelin-relayer
    /gapped-nonce tx/, // go-ethereum: accounts with a delegation (EIP-7702)
  ],
  [
    'insufficient-funds',
    /insufficient (funds|balance)|not enough funds/, // go-ethereum, Erigon, reth, anvil, zkSync, Hedera, Sei, Parity; Arbitrum
    /insufficientfunds|insufficient_payer_balance/, // older Nethermind; Hedera
    /overdraft|overdraws from account/, // go-ethereum; reth
    /upfront cost exceeds account balance/, // Besu
    /signer had insufficient balance/, // Monad
  ],
  [
    'fee-cap',
    /exceeds the configured cap/, // go-ethereum, Celo
    /transaction fee cap exceeded/, // Besu
    /invalid gas fee cap/, // Klaytn
    /max priority fee per gas higher than max fee per gas/, // zkSync, go-ethereum
  ],
  ['terminally-stuck', /not enough .{0,80}counters? to continue|out of counters at node level/],
]

/** Code of EIP-1474. Other codes are unclear, because nodes use −32000, −32003, −32010 and −32603 for any error. */
const limitExceeded = -32005

/** Error texts of the chain's own nodes. Case is ignored. */
export type ErrorTexts = Readonly<Partial<Record<SendErrorClass, readonly string[] | undefined>>>

type Classify = ReturnType<typeof createClassifier>

/** The text after these words may be a contract's own. */
const quote = 'execution reverted'

/**
 * Returns a function that finds the class of an error by its text, without revert data and without the reason of a
 * revert. It compares `overrides` first. If no text matches, the code -32005 means `pool-limit`, and any other error is
 * `ambiguous`.
 */
export function createClassifier(overrides: ErrorTexts = {}) {
  const order = new Set(classes.map(([errorClass]) => errorClass))
  const own = [...order].flatMap((errorClass) => (overrides[errorClass] ?? []).map((text) => [errorClass, text.toLowerCase()] as const))
  return (message: string, code?: number): SendErrorClass => {
    const whole = message.toLowerCase().trim()
    const quoteAt = whole.indexOf(quote)
    const text = quoteAt < 0 ? whole : whole.slice(0, quoteAt + quote.length)
    const overridden = own.find(([, part]) => text.includes(part))
    if (overridden) return overridden[0]
    for (const [errorClass, ...patterns] of classes) if (patterns.some((pattern) => pattern.test(text))) return errorClass
    return code === limitExceeded ? 'pool-limit' : 'ambiguous'
  }
}
