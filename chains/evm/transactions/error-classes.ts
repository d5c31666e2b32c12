import type { SendErrorClass } from '../../port.ts'

/** One pattern of the message of a refused send, lower case, found anywhere in it, and the client that says so. */
interface Row {
  readonly pattern: RegExp
  readonly client: string
}

/**
 * The classes in the order they are tried (chainlink-evm `pkg/client/errors.go`, with what follows from it: replacement before underpriced, a
 * busy gateway before everything, since its page may quote anything). Sources: chainlink-evm @0569f34c, go-ethereum core/txpool/errors.go,
 * reth rpc-eth-types/src/error, foundry anvil/src/eth/error.rs, Nethermind TxPoolErrorMessages, Besu's TransactionInvalidReason.
 */
const classes: readonly (readonly [SendErrorClass, readonly Row[]])[] = [
  [
    'ambiguous',
    [
      row(/502 bad gateway|503 service temporarily unavailable|504 gateway/, 'gateways (Arbitrum)'),
      row(/408 request timeout|i\/o timeout|network is unreachable|timed? ?out|deadline exceeded|context canceled/, 'Go clients, gateways'),
      row(/econnreset|econnrefused|etimedout|socket hang up|connection reset|fetch failed|no answer within/, 'the network'),
    ],
  ],
  [
    'fatal',
    [
      row(/intrinsic gas too (low|high)/, 'go-ethereum, reth, zkSync; anvil too high'),
      row(/intrinsic gas exceeds gas limit/, 'Besu'),
      row(/exceeds (the )?block('s)? gas limit/, 'go-ethereum, Besu, reth, zkSync'),
      row(/gas limit reached|gaslimitexceeded/, 'Nethermind 2026, older'),
      row(/gas limit too (low|high)/, 'Monad low, reth high'),
      row(/exceeds maximum (gas|transaction gas)|transaction gas limit too high/, 'go-ethereum and reth since Osaka (EIP-7825)'),
      row(/oversized data|input data too large|tx too large/, 'go-ethereum, Optimism, zkSync; reth; Sei'),
      row(/max(imum)? initcode size exceeded|max code size exceeded|initcode size limit/, 'go-ethereum, anvil'),
      row(/invalid sender|failed ?to ?(resolve|recover) ?sender/, 'go-ethereum; Nethermind'),
      row(/sender ?(is ?contract|(is )?not an eoa)/, 'Nethermind; reth, go-ethereum'),
      row(/failed to decode (signed )?transaction|^rlp: /, 'reth, anvil; go-ethereum'),
      row(/negative value/, 'go-ethereum'),
      row(/gas uint64 overflow|int256overflow|transaction cost overflow|higher than 2\^64-1/, 'go-ethereum; Nethermind; zkSync'),
      row(/invalid chain ?id/, 'reth, anvil, go-ethereum'),
      row(/invalid[_ ]signature/, 'Besu, Hedera'),
      row(/unsupported transaction type|transaction type not supported|transaction invalid$/, 'Nethermind, go-ethereum'),
      row(/^"?invalid(, transaction hash is null)?\.?"?$/, 'Nethermind, older'),
      row(/invalid message format|forbidden sender address/, 'Arbitrum'),
      row(/execution reverted/, 'Arbitrum, Hedera: the sequencer runs it first'),
      row(/cyclic transaction detected/, 'anvil'),
      row(/not enough gas for transaction validation|failed to pay the fee to the operator/, 'zkSync'),
      row(/^"?out of gas/, 'Sei'),
      row(/invalid shard|in (the )?blacklist/, 'Harmony'),
    ],
  ],
  [
    'nonce-too-low',
    [
      row(/nonce (is )?too low/, 'go-ethereum, Erigon, Besu, reth, anvil, Arbitrum, Avalanche, zkSync, Hedera; Parity'),
      row(/oldnonce/, 'Nethermind, older'),
      row(/pool\(stale\)/, 'Substrate (Moonriver)'),
      row(/invalid transaction nonce/, 'Arbitrum'),
      row(/incorrect account sequence/, 'Sei and other Cosmos chains'),
      row(/transaction already finalized/, 'Harmony'),
    ],
  ],
  ['own-nonce-used', [row(/ownnoncealreadyused/, 'Nethermind, older: another transaction holds the nonce')]],
  [
    'nonce-too-high',
    // Before `replacement-underpriced`: the message has the word "replace".
    [row(/future transaction tries to replace pending/, 'go-ethereum')],
  ],
  [
    'replacement-underpriced',
    [
      row(/replacement transaction underpriced/, 'go-ethereum, Erigon, Besu, Nethermind 2026, reth, anvil'),
      row(/insufficient gas price to replace/, 'reth and anvil, inside the pool'),
      row(/another (transaction|tx) (which has|with) (the )?same nonce/, 'Parity; Klaytn'),
      row(/replacement (fee too low|not ?allowed)|replacementnotallowed/, 'ethers; Nethermind, older'),
    ],
  ],
  [
    'already-known',
    [
      row(/already known|alreadyknown/, 'go-ethereum, Nethermind; Gnosis'),
      row(/(?<!un)known transaction/, 'Besu, Klaytn, zkSync, older go-ethereum'),
      row(/same hash was already imported/, 'Parity'),
      row(/already imported|alreadyimported/, 'anvil, reth; Substrate'),
      row(/already exists in cache/, 'Sei'),
      row(/already in the system/, 'zkSync'),
    ],
  ],
  [
    'pool-limit',
    [
      row(/tx ?pool is full/, 'go-ethereum, Celo, Klaytn'),
      row(/account limit exceeded/, 'go-ethereum'),
      row(/in-flight transaction limit reached/, 'go-ethereum: accounts with a delegation (EIP-7702)'),
      row(/(address|authority) already reserved/, 'go-ethereum: another pool holds the account'),
      row(/too many transactions in the queue/, 'Parity'),
      row(/queue full|sequencer pending tx pool full/, 'Arbitrum'),
      row(/pool size constraints|identified as a spammer/, 'reth'),
      row(/rate limit|too many requests/, 'gateways'),
    ],
  ],
  [
    'underpriced',
    [
      row(/transaction underpriced/, 'go-ethereum, reth, Nethermind 2026'),
      row(/below (the )?configured minimum gas price/, 'Besu, Hedera'),
      row(/gas price below minimum/, 'Bor'),
      row(/feetoolow/, 'Nethermind, older'),
      row(/gas ?price (\S+ )?(is )?(too low|less than gas price minimum floor)/, 'Arbitrum; Celo'),
      row(/gas price.{0,80}too low/, 'Parity, Metis'),
      row(/minimal gas price/, 'Parity'),
      row(/use at least tx\.gasprice/, 'Metis'),
      row(/below chain minimum|below minimum required priority fee/, 'reth'),
      row(/max fee per gas less than block base fee|less than block base ?fee/, 'go-ethereum, anvil, Arbitrum, zkSync'),
      row(/unacceptable gas price|fair pubdata price too high/, 'zkSync'),
      row(/insufficient fee\b/, 'Sei'),
    ],
  ],
  [
    'nonce-too-high',
    [
      row(/nonce (is )?too high/, 'go-ethereum, reth, anvil, Arbitrum, zkSync, Hedera'),
      row(/noncegap/, 'Nethermind, older'),
      row(/too distant from current sender nonce|transaction with a lower nonce exists/, 'Besu'),
      row(/nonce too far in (the )?future/, 'Nethermind 2026'),
      row(/exceeds next nonce|nonce out of range|tx-nonce-too-high/, 'openzeppelin-relayer'),
      row(/gapped-nonce tx/, 'go-ethereum: accounts with a delegation (EIP-7702)'),
    ],
  ],
  [
    'insufficient-funds',
    [
      row(/insufficient (funds|balance)|not enough funds/, 'go-ethereum, Erigon, reth, anvil, zkSync, Hedera, Sei, Parity; Arbitrum'),
      row(/insufficientfunds|insufficient_payer_balance/, 'Nethermind, older; Hedera'),
      row(/overdraft|overdraws from account/, 'go-ethereum; reth'),
      row(/upfront cost exceeds account balance/, 'Besu'),
      row(/signer had insufficient balance/, 'Monad'),
    ],
  ],
  [
    'fee-cap',
    [
      row(/exceeds the configured cap/, 'go-ethereum, Celo'),
      row(/transaction fee cap exceeded/, 'Besu'),
      row(/invalid gas fee cap/, 'Klaytn'),
      row(/max priority fee per gas higher than max fee per gas/, 'zkSync, go-ethereum'),
    ],
  ],
  ['terminally-stuck', [row(/not enough .*counters? to continue|out of counters at node level/, 'zkEVM, X Layer')]],
]

/** The classes in the order that the table has them first. */
const classOrder: readonly SendErrorClass[] = [...new Set(classes.map(([errorClass]) => errorClass))]

/** EIP-1474: limit exceeded. The one code that means one thing everywhere; −32000, −32003, −32010 and −32603 wrap anything. */
const limitExceeded = -32005

/** Class → texts of a chain's own nodes, in any case. */
export type ErrorTexts = Readonly<Partial<Record<SendErrorClass, readonly string[] | undefined>>>

/** What a node's refusal of a send means. */
export type Classify = (message: string, code?: number) => SendErrorClass

/**
 * The classifier of a chain. Matched on the message only (never on revert data), anywhere in it; what matches nothing is `ambiguous`: the
 * transaction may have been taken.
 * @param overrides texts that are tried before the built-in ones, in the order of the classes there
 */
export function createClassifier(overrides: ErrorTexts = {}): Classify {
  const own = classOrder.flatMap((errorClass) => (overrides[errorClass] ?? []).map((text) => [errorClass, text.toLowerCase()] as const))
  return (message, code) => {
    const text = message.toLowerCase().trim()
    const overridden = own.find(([, part]) => text.includes(part))
    if (overridden) return overridden[0]
    for (const [errorClass, rows] of classes) if (rows.some(({ pattern }) => pattern.test(text))) return errorClass
    return code === limitExceeded ? 'pool-limit' : 'ambiguous'
  }
}

function row(pattern: RegExp, client: string): Row {
  return { pattern, client }
}
