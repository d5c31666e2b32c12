import { optional, z } from 'zod'
import { largestWindow } from '../../domain/lane/lane.ts'
import {
  address,
  amount,
  between,
  callStart,
  decimal,
  gasUnits,
  oneOf,
  path,
  selector,
  url,
  usually,
  variable,
  wei,
  whole,
} from '../load/values.ts'

/** If several rules set a field, the most specific rule decides (domain/fees/fees.ts). */
const feePolicyOf = <Wei extends z.ZodType<string, string>>(wei: Wei) =>
  z.strictObject({
    maxFeePerGas: optional(wei).describe('Maximum price per unit of gas, wei.'),
    maxTip: optional(wei).describe("Maximum tip per unit of gas, wei. The tip is the part of the price that goes to the block's builder."),
    tipFactor: optional(between(0.5, 10)).describe("Factor of the market's tip in the first offer, with two decimals. Default: 1."),
    bumpPercent: optional(whole(10, 100)).describe('How much each new attempt raises both fees, percent. Default: 20.'),
    maxFeePerTransaction: optional(wei).describe('Maximum cost of a transaction, including the data fee of an L2, wei.'),
    baseFeeCeiling: optional(wei).describe('Maximum base fee, wei. Above this ceiling, new transfers wait without a nonce.'),
    gasFactor: optional(between(1, 5)).describe('The gas limit is the gas estimate times this factor. Default: 1.2.'),
    gasLimit: optional(gasUnits).describe('Maximum gas limit of a transaction. A call that needs more gas is not sent.'),
  })

export const feePolicySchema = feePolicyOf(amount)
/** Decimal wei only: answers are serialized with this schema, and zod cannot reverse the transform of `amount`. */
export const orderedFeePolicySchema = feePolicyOf(decimal)

/** `environment` is only for development, because keys in environment variables leak easily. */
export const signerSchema = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('keystore').describe('An encrypted Ethereum keystore file (version 3).'),
      file: path.describe('Path of the file, relative to the config file.'),
      passwordFile: optional(path).describe('Path of a file whose first line is the password, relative to the config file.'),
      passwordVariable: optional(variable).describe('Environment variable with the password.'),
    })
    .refine(...oneOf('passwordFile', 'passwordVariable')),
  z.strictObject({
    kind: z.literal('environment').describe('A private key in an environment variable: development only.'),
    variable: variable.describe('Name of the environment variable.'),
  }),
  z.strictObject({
    kind: z.literal('remote').describe("A remote signer over HTTP with web3signer's eth1 API."),
    url: url.describe('Base URL of the signer. Credentials in the URL never appear in logs.'),
    identifier: optional(z.string()).describe(
      "The key's identifier at the remote signer (web3signer: the public key). Absent: Portage finds the key by the address in the config.",
    ),
    timeoutMs: usually(whole(100, 600_000), 5000).describe('Maximum wait for a signature.'),
  }),
  z.strictObject({
    kind: z.literal('aws-kms').describe('A secp256k1 key in AWS KMS (ECC_SECG_P256K1, SIGN_VERIFY). The AWS SDK finds the credentials.'),
    keyId: z.string().min(1).describe('Key id, ARN or alias.'),
    region: optional(z.string()).describe('AWS region. Absent: the region of the environment.'),
    endpoint: optional(url).describe('Endpoint other than AWS, for tests.'),
  }),
])

const limits = {
  maxGasPerTransaction: whole(21_000, 1_000_000_000).describe('Maximum gas limit of a transaction.'),
  maxTipPerGasWei: wei.describe('Maximum tip per unit of gas. Without a base fee: maximum gas price.'),
  maxDataFeePerTransactionWei: wei.describe('Maximum fee for the data of one transaction, in addition to its gas (feeModel: op-stack).'),
  maxCostPerTransactionWei: wei.describe('Maximum cost of one transaction: gas limit × fee per gas + data fee of an L2.'),
  maxSpendingPerHourWei: wei.describe(
    "Maximum cost of a key's transactions in an hour. Each nonce counts once, with its most expensive attempt. Payments of coins count separately, with the same limit.",
  ),
  maxSpendingPerDayWei: wei.describe('Maximum cost of the transactions of a key in a day, counted like the cost in an hour.'),
  maxPaymentWei: wei.describe('Maximum payment of coins to the treasury or to another lane.'),
}

/** Only the config can raise the limits of signatures. The defaults limit the damage that a stranger can cause. */
export const signingLimitsSchema = z
  .strictObject({
    ...limits,
    // Ethereum's limit per transaction (EIP-7825).
    maxGasPerTransaction: limits.maxGasPerTransaction.default(16_777_216),
    maxTipPerGasWei: limits.maxTipPerGasWei.prefault('10000000000000'),
    maxDataFeePerTransactionWei: limits.maxDataFeePerTransactionWei.prefault('100000000000000000'),
    maxCostPerTransactionWei: limits.maxCostPerTransactionWei.prefault(coins(1)),
    maxSpendingPerHourWei: limits.maxSpendingPerHourWei.prefault(coins(10)),
    maxSpendingPerDayWei: limits.maxSpendingPerDayWei.prefault(coins(50)),
    maxPaymentWei: limits.maxPaymentWei.prefault(coins(10)),
    topUps: usually(z.boolean(), false).describe(
      "Whether a key of this chain may pay coins to the chain's other lanes (portage lane top-up). If true, a thief of one key who can reach Temporal can make the other keys pay coins to this key, within their limits.",
    ),
  })
  .prefault({})
  .describe('Limits of every signature by a key of this chain. No command can change these limits: docs/operate/signers.md')

const laneLimitsSchema = z
  .strictObject(limits)
  .partial()
  .describe("Limits of this key. These limits replace the limits of the chain's `signing`.")

function coins(count: number): string {
  return String(BigInt(count) * 10n ** 18n)
}

const contractCalls = z.record(address, z.array(selector).min(1))

export const laneSchema = z.strictObject({
  address: address.describe('Address of the key. All workers of the chain need the address; only lane workers need the signer.'),
  signer: optional(signerSchema).describe('Where the key is. Absent on workers that do not serve this lane.'),
  allow: optional(contractCalls).describe(
    "Contract → selectors of the deliveries that the key signs, if a bridge proves them. Absent: all calls of the config's bridges. The key always signs no-ops and payments of coins and listed tokens to the treasury, and with `topUps` payments of coins to other lanes.",
  ),
  operatorCalls: optional(z.record(address, z.array(callStart).min(1))).describe(
    'Contract → prefixes of the data of calls that operators may order (portage lane send --data): a selector and any number of leading arguments of 32 bytes. No proof protects operator calls: anyone with access to Temporal can order such a call with any further arguments.',
  ),
  signing: laneLimitsSchema.optional(),
  minimumBalance: optional(amount).describe(
    'Minimum balance, wei. A lane with less takes no new work. Absent: the balance must only cover the transactions in flight.',
  ),
  fees: optional(feePolicySchema).describe('Fee limits of this lane.'),
  broadcast: usually(z.enum(['auto', 'queue']), 'auto').describe(
    "Where broadcasts of this lane run. `auto`: in the process that admitted the transfer, if it has the key and finality takes at most 10 s, else through the lane's queue. `queue`: always through the lane's queue. docs/ARCHITECTURE.md",
  ),
  window: usually(whole(1, largestWindow), 16).describe(
    'Limit of nonces in flight. For public pools, use 16 (go-ethereum AccountSlots) to 64. For devnets and sequencers, use 64 to 128.',
  ),
})
