import { z } from 'zod'
import { address, callStart, decimal, gasUnits, milliseconds, selector, url, variable, wei, whole } from '../load/values.ts'

/** Limits of what may be spent (domain/fees/policy.ts). The most specific rule that sets a field decides it. */
export const feePolicySchema = z.strictObject({
  maxFeePerGas: decimal.optional().describe('Most that a unit of gas may cost, wei.'),
  maxTip: decimal.optional().describe("Most of that for the block's builder, wei."),
  maxFeePerTransaction: decimal.optional().describe('Most that a whole transaction may cost, the data fee of an L2 included, wei.'),
  baseFeeCeiling: decimal.optional().describe('Above this base fee, wei, nothing new is sent: transfers wait, and hold no nonce.'),
  gasFactor: z.number().min(1).max(5).optional().describe('The gas limit is the estimate times this. Where nothing is set: 1.2.'),
  gasLimit: gasUnits.optional().describe('Most gas units of a transaction; a call that needs more is not sent.'),
})

/** Where a lane's key is. `environment` is for development: keys in environment variables leak easily. */
export const signerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('keystore').describe('An encrypted Ethereum keystore file (version 3).'),
    file: z.string().min(1).describe('Path of the file; relative to the config file.'),
    passwordFile: z.string().min(1).optional().describe('A file whose first line is the password; relative to the config file.'),
    passwordVariable: variable.optional().describe('The environment variable that holds the password.'),
  }),
  z.strictObject({
    kind: z.literal('environment').describe('A private key in an environment variable: development only.'),
    variable: variable.describe('The name of the environment variable.'),
  }),
  z.strictObject({
    kind: z.literal('remote').describe("A remote signer over HTTP, of the shape of web3signer's eth1 API."),
    url: url.describe('Its base URL. Credentials in it never appear in logs.'),
    identifier: z
      .string()
      .optional()
      .describe("The key's identifier there (web3signer: its public key); absent: found by the lane's address."),
    timeoutMs: milliseconds(100, 600_000).default(5000).describe('Longest wait for a signature.'),
  }),
  z.strictObject({
    kind: z
      .literal('aws-kms')
      .describe('A secp256k1 key in AWS KMS (ECC_SECG_P256K1, SIGN_VERIFY). Credentials come the way of the AWS SDK.'),
    keyId: z.string().min(1).describe('Key id, ARN or alias.'),
    region: z.string().optional().describe('AWS region; absent: from the environment.'),
    endpoint: url.optional().describe('Another endpoint than AWS, for tests.'),
  }),
])

const limits = {
  maxGasPerTransaction: whole(21_000).max(1_000_000_000).describe('Highest gas limit of a transaction.'),
  maxTipPerGasWei: wei.describe('Highest tip per unit of gas; on a chain without base fee, the highest gas price.'),
  maxDataFeePerTransactionWei: wei.describe(
    'Most that a chain may charge for the data of one transaction beside its gas (feeModel: op-stack).',
  ),
  maxCostPerTransactionWei: wei.describe('Most that one transaction may cost: gas limit × fee per gas, and the data fee of an L2.'),
  maxSpendingPerHourWei: wei.describe(
    'Most that the transactions of a key may cost in an hour, each nonce counted once, by its dearest attempt.',
  ),
  maxSpendingPerDayWei: wei.describe('The same in a day.'),
  maxPaymentWei: wei.optional().describe('Most coins of one payment to the treasury or to another lane; absent: no limit.'),
}

/** The most that a key signs for: held by its signer, past every other layer. The defaults bound what a stranger can waste, for a coin of some worth. */
export const signingLimitsSchema = z
  .strictObject({
    ...limits,
    // Ethereum's own limit of a transaction (EIP-7825).
    maxGasPerTransaction: limits.maxGasPerTransaction.default(16_777_216),
    maxTipPerGasWei: limits.maxTipPerGasWei.default('10000000000000'),
    maxDataFeePerTransactionWei: limits.maxDataFeePerTransactionWei.default('100000000000000000'),
    maxCostPerTransactionWei: limits.maxCostPerTransactionWei.default(coins(1)),
    maxSpendingPerHourWei: limits.maxSpendingPerHourWei.default(coins(10)),
    maxSpendingPerDayWei: limits.maxSpendingPerDayWei.default(coins(50)),
  })
  .prefault({})
  .describe(
    'The most that a key of this chain signs for, whoever asks. Only the config changes it: no command and no setting does. docs/operate/signers.md',
  )

const laneLimitsSchema = z.strictObject(limits).partial().describe("Limits of this key, instead of the chain's `signing`.")

function coins(count: number): string {
  return String(BigInt(count) * 10n ** 18n)
}

const contractCalls = z.record(address, z.array(selector).min(1))

export const laneSchema = z.strictObject({
  address: address.describe('The address of the key. Every worker of the chain knows it; only lane workers need the signer.'),
  signer: signerSchema.optional().describe('Where the key is; absent on workers that do not serve this lane.'),
  allow: contractCalls
    .optional()
    .describe(
      "Contract → selectors of the deliveries that the key signs; absent: all of the config's bridges. Each is signed only with a proof by its bridge. Always allowed besides: no-ops, coins to the treasury and to other lanes of the chain, listed tokens to the treasury.",
    ),
  operatorCalls: z
    .record(address, z.array(callStart).min(1))
    .optional()
    .describe(
      'Contract → how the data of other calls begins that operators may have made (portage lane send --data): a selector, and the first arguments that it must have, as many words of 32 bytes as you like. Nothing proves them: whoever reaches Temporal can have them called with any arguments after these.',
    ),
  signing: laneLimitsSchema.optional(),
  minimumBalance: decimal
    .optional()
    .describe('Below this balance, wei, the lane takes no new work until it is funded. Absent: it must only pay for what is in flight.'),
  fees: feePolicySchema.optional().describe('Limits of this lane.'),
  broadcast: z
    .enum(['auto', 'queue'])
    .default('auto')
    .describe(
      "Where broadcasts of this lane run. `auto`: in the process that admitted the transfer, if that holds the key and finality is at most 10 s away, and else through the lane's queue. `queue`: always through the lane's queue. docs/ARCHITECTURE.md",
    ),
  window: whole(1)
    .max(128)
    .default(16)
    .describe('Most nonces in flight. Public pools: 16 (go-ethereum AccountSlots), up to 64; devnets and sequencers 64-128.'),
})
