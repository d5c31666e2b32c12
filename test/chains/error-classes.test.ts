import { describe, expect, test } from 'vitest'
import { createClassifier } from '../../chains/evm/transactions/send.ts'
import type { SendErrorClass } from '../../domain/lane/send-errors.ts'

const classify = createClassifier()

/** Error messages of chainlink-evm, go-ethereum, reth, anvil, Erigon, Nethermind, Besu and others, by class. */
const said: Record<SendErrorClass, readonly string[]> = {
  'nonce-too-low': [
    '"nonce too low',
    'nonce is too low',
    'Nonce too low: expected 4',
    'nonce too low',
    'nonce too low: next nonce 7, tx nonce 3',
    'nonce too low: address 0x0499BEA33347cb62D79A9C0b1EDA01d8d329894c current nonce (5833) > tx nonce (5511)',
    'nonce too low. allowed nonce range: 427 - 447, actual: 426',
    'nonce too low:{"address":"0xabc"}',
    'Nonce too low',
    'OldNonce',
    'OldNonce, Current nonce: 22, nonce of rejected tx: 17',
    'Transaction nonce is too low. Try incrementing the nonce.',
    'invalid transaction nonce',
    'verification failed: Pool(Stale)',
    'incorrect account sequence',
    'transaction already finalized',
    'INTERNAL_ERROR: nonce too low',
  ],
  'already-known': [
    '"already known',
    'known transaction',
    'already known',
    'known transaction: 0x7f657507aee0511e36d2d1972a6b22e917cc89f92b6c12c4dbd57eaabb236960',
    'block already known',
    'Known transaction',
    'AlreadyKnown',
    'alreadyknown',
    'transaction already imported',
    'already imported',
    'Transaction with the same hash was already imported.',
    'verification failed: Pool(AlreadyImported "0x…")',
    'tx already exists in cache',
    'known transaction. transaction with hash 0xf016…ad63 is already in the system',
    'ALREADY_EXISTS: already known',
    'INTERNAL_ERROR: existing txn with same hash',
    'existing tx with same hash',
  ],
  'own-nonce-used': ['OwnNonceAlreadyUsed'],
  'replacement-underpriced': [
    'replacement transaction underpriced; there is another tx which has the same nonce in the tx pool',
    'replacement transaction underpriced',
    'Replacement transaction underpriced',
    '"replacement transaction underpriced"',
    'insufficient gas price to replace existing transaction',
    'Transaction gas price 100wei is too low. There is another transaction with same nonce in the queue with gas price 150wei. Try increasing the gas price or incrementing the nonce.',
    'there is another tx which has the same nonce in the tx pool',
    'ReplacementNotAllowed',
    'replacement fee too low',
    'FEE_TOO_LOW: replacement transaction underpriced',
    'INTERNAL_ERROR: could not replace existing tx',
    'could not replace existing tx',
  ],
  underpriced: [
    '"transaction underpriced',
    'FeeTooLow',
    'transaction gas price below minimum',
    'transaction underpriced',
    'transaction underpriced: gas tip cap 0, minimum needed 1000000000',
    'transaction gas price below minimum: gas tip cap 1, minimum needed 30000000000',
    'Gas price below configured minimum gas price',
    "Gas price '8446744073709' is below configured minimum gas price '10000000000'",
    'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 50, BaseFee: 100, MaxPriorityFeePerGas:200, Block number: 5',
    'FeeTooLow, EffectivePriorityFeePerGas too low 10 < 20, BaseFee: 30',
    'FeeTooLowToCompete',
    'gas price too low',
    'gas price too low: 18000000000 wei, use at least tx.gasPrice = 19500000000 wei',
    'gasprice is less than gas price minimum floor',
    "Transaction gas price 150000000wei is too low. It does not satisfy your node's minimal gas price (minimal: 200000000). Try increasing the gas price.",
    'transaction feeCap 1 below chain minimum',
    'transaction priority fee below minimum required priority fee 30000000000',
    'max fee per gas less than block base fee',
    'max fee per gas less than block base fee: address 0x11b91A37cb4eA7bb5f8ca7Ae4b8bB5ed47Fe0dA4, maxFeePerGas: 1 baseFee: 3',
    'failed to validate the transaction. reason: Validation revert: virtual machine entered unexpected state: unacceptable gas price',
    'Fair pubdata price too high',
    'insufficient fee',
    'FEE_TOO_LOW: underpriced',
    'underpriced',
    'FEE_TOO_LOW: fee too low',
    'fee too low',
  ],
  'nonce-too-high': [
    'nonce is too high',
    'tx-nonce-too-high',
    'nonce out of range',
    'nonce too high:{"address":"0xabc"}',
    'nonce too high',
    'Nonce too high',
    'nonce too high: address 0x336394A3219e71D9d9bd18201d34E95C1Bb7122C, tx: 8089 state: 8090',
    'nonce too high. allowed nonce range: 427 - 477, actual: 527',
    'NonceGap',
    'NonceGap, Future nonce. Expected nonce: 10',
    'Transaction nonce is too distant from current sender nonce',
    'An invalid transaction with a lower nonce exists',
    'nonce too far in future',
    'nonce too far in the future',
    'tx nonce 9 exceeds next nonce 5',
    'gapped-nonce tx from delegated accounts',
    'future transaction tries to replace pending',
    'delegation nonce gap',
  ],
  'pool-limit': [
    'rate limit exceeded',
    'Too Many Requests',
    'txpool is full',
    'account limit exceeded',
    'account limit exceeded: pooled 16 txs',
    'address already reserved',
    'authority already reserved',
    'in-flight transaction limit reached for delegated accounts',
    'There are too many transactions in the queue. Your transaction was dropped due to limit. Try increasing the fee.',
    'queue full',
    'sequencer pending tx pool full, please try again',
    'rejected due to 0xabc being identified as a spammer',
    'transaction discarded outright due to pool size constraints',
    'INTERNAL_ERROR: spammer',
    'spammer',
    'INTERNAL_ERROR: pending sub-pool is full',
    'baseFee sub-pool is full',
    'queued sub-pool is full',
    'INTERNAL_ERROR: EIP-7702 transaction with authority already reserved',
    'delegation authority has pending transaction',
    'pending transaction type conflict',
    'node is syncing',
  ],
  'insufficient-funds': [
    '"insufficient funds for gas * price + value',
    'insufficient funds',
    'InsufficientFunds',
    'Insufficient funds for transfer',
    'insufficient funds for gas * price + value: have 5 want 7',
    'insufficient funds for transfer',
    'insufficient funds for gas * price + value',
    'insufficient funds for gas * price + value: have 0 want 1',
    'insufficient funds for gas * price + value: address 0xb68D832c1241bc50db1CF09e96c0F4201D5539C9 have 9934612900000000 want 9936662900000000',
    'Insufficient funds for gas * price + value',
    'insufficient funds for gas * price + value + gatewayFee',
    'insufficient funds for gas + value. balance: 42719769622667482000, fee: 48098250000000, value: 42719769622667482000',
    'insufficient balance for transfer',
    'transaction would cause overdraft',
    'transaction overdraws from account',
    'Upfront cost exceeds account balance',
    'not enough funds for gas',
    'InsufficientFunds, Account balance: 4740799397601480913, cumulative cost: 22019342038993800000',
    'Insufficient funds. The account you tried to send transaction from does not have enough funds. Required 100 and got: 20.',
    'INSUFFICIENT_PAYER_BALANCE',
    'Signer had insufficient balance',
    'rpc error: : insufficient funds',
    'INTERNAL_ERROR: insufficient funds',
  ],
  'fee-cap': [
    'tx fee (1.10 ether) exceeds the configured cap (1.00 ether)',
    'tx fee (1.10 of currency celo) exceeds the configured cap (1.00 celo)',
    'Transaction fee cap exceeded',
    'invalid gas fee cap',
    'max priority fee per gas higher than max fee per gas',
  ],
  fatal: [
    'transaction too large',
    'MaxTxSizeExceeded',
    'RLPTooLong',
    '"exceeds block gas limit',
    'GasLimitExceeded',
    'execution reverted',
    'exceeds block gas limit',
    'invalid sender',
    'negative value',
    'oversized data',
    'oversized data: transaction size 3278471, limit 131072',
    'oversized data. max: 1000000; actual: 1000000',
    'gas uint64 overflow',
    'intrinsic gas too low',
    'intrinsic gas too low: gas 20000, minimum needed 21000',
    'Intrinsic gas exceeds gas limit',
    'Transaction gas limit exceeds block gas limit',
    "transaction's gas limit 70000000 exceeds block's gas limit 60000000",
    'Invalid signature',
    'INVALID_SIGNATURE',
    'SenderIsContract',
    'sender not an eoa',
    'sender is not an EOA',
    'Invalid',
    'Invalid, transaction Hash is null',
    'Int256Overflow',
    'transaction cost overflow',
    'FailedToResolveSender',
    'failed to recover sender',
    'GasLimitExceeded, Gas limit: 100, gas limit of rejected tx: 200',
    'gas limit reached',
    'transaction invalid',
    'unsupported transaction type',
    'gas limit too high',
    'Gas limit too low',
    'invalid chain ID',
    'invalid chain id for signer',
    'input data too large',
    'intrinsic gas too high -- tx.gas_limit > env.block.gas_limit',
    'Cyclic transaction detected',
    'invalid message format',
    'forbidden sender address',
    'execution reverted: error code',
    'Not enough gas for transaction validation',
    'Failed to pay the fee to the operator',
    'the value is higher than 2^64-1',
    'out of gas',
    'Tx too large. Max size is 2048000, but got 2048001',
    'invalid shard',
    'sender in blacklist',
    'Failed to decode transaction',
    'INVALID: RLPTooLong',
    'INVALID: oversized data',
    'INTERNAL_ERROR: IntrinsicGas',
    'IntrinsicGas',
    'INTERNAL_ERROR: gas limit is too high',
    'gas limit is too high',
    'INTERNAL_ERROR: GasUintOverflow',
    'INVALID: initcode too large',
  ],
  'terminally-stuck': [
    'failed to add tx to the pool: not enough step counters to continue the execution',
    'not enough keccak counters to continue the execution',
    'RPC error response: failed to add tx to the pool: out of counters at node level (Steps)',
  ],
  ambiguous: [
    '502 Bad Gateway: <html>already known</html>',
    '503 Service Temporarily Unavailable',
    'i/o timeout',
    'network is unreachable',
    '408 Request Timeout',
    'context deadline exceeded',
    'unknown transaction',
    'internal error',
    'something that no node has said before',
    '',
    'INTERNAL_ERROR: not set',
    'INTERNAL_ERROR: mined',
  ],
}

describe('classify', () => {
  for (const [errorClass, messages] of Object.entries(said)) {
    test.each(messages)(`${errorClass}: %s`, (message) => {
      expect(classify(message)).toBe(errorClass)
    })
  }

  test('the text of an error decides its class, whatever its code (openzeppelin-relayer issue 681)', () => {
    for (const code of [-32000, -32002, -32003, -32010, -32603]) expect(classify('nonce too low', code)).toBe('nonce-too-low')
  })

  test('an error without a known text is a pool limit if its code says so', () => {
    expect(classify('daily request count exceeded', -32005)).toBe('pool-limit')
    expect(classify('daily request count exceeded', -32000)).toBe('ambiguous')
  })

  test('the same text has the same class twice, because no pattern is stateful', () => {
    for (let round = 0; round < 3; round++) expect(classify('replacement transaction underpriced')).toBe('replacement-underpriced')
  })

  /**
   * The classes by precedence: a message that fits several has the first. Gateways come first, because they may quote
   * anything.
   */
  const inOrder: readonly (readonly [SendErrorClass, string])[] = [
    ['ambiguous', '503 Service Temporarily Unavailable'],
    ['fatal', 'exceeds block gas limit'],
    ['nonce-too-low', 'nonce too low'],
    ['own-nonce-used', 'OwnNonceAlreadyUsed'],
    ['replacement-underpriced', 'replacement transaction underpriced'],
    ['already-known', 'already known'],
    ['pool-limit', 'txpool is full'],
    ['underpriced', 'transaction underpriced'],
    ['nonce-too-high', 'nonce too high'],
    ['insufficient-funds', 'insufficient funds for transfer'],
    ['fee-cap', 'Transaction fee cap exceeded'],
    ['terminally-stuck', 'out of counters at node level'],
  ]

  test('precedence: of two texts in one message the earlier class wins, whichever comes first', () => {
    for (const [index, [first, one]] of inOrder.entries()) {
      for (const [, other] of inOrder.slice(index + 1)) {
        expect(classify(`${one}; ${other}`), `${one}; ${other}`).toBe(first)
        expect(classify(`${other}: ${one}`), `${other}: ${one}`).toBe(first)
      }
    }
    expect(inOrder.map(([errorClass]) => errorClass).sort()).toEqual(Object.keys(said).sort())
  })

  test("the text of a contract's revert has no error class, even if the config lists this text", () => {
    const own = createClassifier({ 'already-known': ['my own words'] })
    for (const [, text] of [...inOrder, ['', 'my own words'] as const]) {
      expect(classify(`execution reverted: ${text}`), text).toBe('fatal')
      expect(own(`Execution reverted: ${text}`), text).toBe('fatal')
    }
    expect(classify('503 Service Temporarily Unavailable: execution reverted')).toBe('ambiguous')
  })

  test("a chain's own texts come before all others, in any case, and in the same order among themselves", () => {
    const own = createClassifier({ 'pool-limit': ['Sequencer says NO'], 'already-known': ['nonce too low'], fatal: ['says no, never'] })
    expect(own('sequencer says no (7)')).toBe('pool-limit')
    expect(own('Nonce too low: next nonce 4')).toBe('already-known')
    expect(own('sequencer says no, never')).toBe('fatal')
    expect(own('exceeds block gas limit')).toBe('fatal')
    expect(own('nothing that anybody knows')).toBe('ambiguous')
    expect(classify('Sequencer says NO')).toBe('ambiguous')
  })
})
