import { optional, prefault, z } from 'zod'
import { leastGasLimit } from '../../domain/transfer/content.ts'
import { address, amount, chainName, gasUnits, usually, whole } from '../load/values.ts'
import { deliveredViewSchema, maxOpen } from './bridge-schema.ts'
import { signerSchema } from './lane-schema.ts'
import { dollars } from './price-feed-schema.ts'

const coins = amount.refine((value) => BigInt(value) < 2n ** 128n, 'must be below 2^128')

const payerOf = (call: string, contract: string) =>
  optional(address).describe(`Contract on this chain that pays the drop-off with ${call} (${contract}).`)

const executorChainSchema = z.strictObject({
  contract: address.describe("The chain's Executor contract, which takes the requests."),
  payee: address.describe(
    'Account that receives the payment of a request on this chain as soon as the request is made. A contract as payee must accept coins with 2,300 gas.',
  ),
  price: dollars.describe(
    "Dollars that one of the chain's coins is worth, as text. With `priceFeed`, quotes use the price of the feed, which may differ from this price by at most `priceFeed.mostChangePercent`.",
  ),
  baseFee: amount
    .refine((value) => BigInt(value) <= 2n ** 64n * 10n ** 8n - 10n ** 8n, 'must fit into 64 bits with 10 decimals')
    .prefault('0')
    .describe(
      'Fixed part of the price of each request on this chain, wei of its coin, rounded up to 10 decimals. The fixed part must cover what the gas limit does not: further calls of a transfer of NTT, and requests for messages that do not exist. At 0, `config check` and `doctor` warn.',
    ),
  maxGasLimit: usually(
    gasUnits.refine(
      (gas) => BigInt(gas) >= leastGasLimit,
      `must be at least ${leastGasLimit}, because requests for less are not delivered`,
    ),
    '1000000',
  ).describe(
    'Maximum gas limit of a delivery to this chain that a request may ask for, at least 100000. Portage does not deliver a request for less than 100000.',
  ),
  maxMsgValue: prefault(coins, '0').describe(
    'Maximum amount of coins that a delivery to this chain may carry, including the drop-off, wei.',
  ),
  receivers: usually(z.record(address, deliveredViewSchema), {}).describe(
    'Contract on this chain that takes executeVAAv1(bytes) → the view that shows a delivery. Without a recordContract, requests for other contracts are declined.',
  ),
  dropOffContract: payerOf('the delivery', 'VAAv1ReceiveWithGasDropOff'),
  nttDropOffContract: payerOf('a transfer of NTT', 'MultiReceiveWithGasDropOff'),
  cctpV1DropOffContract: payerOf('a burn of CCTP v1', 'CCTPv1ReceiveWithGasDropOff'),
  cctpV2DropOffContract: payerOf('a burn of CCTP v2', 'CCTPv2ReceiveWithGasDropOff'),
  recordContract: optional(address).describe(
    'Contract on this chain that delivers to contracts that are not in `receivers`, and shows these deliveries (DeliveryRecord).',
  ),
  startBlock: optional(whole(0)).describe(
    'First block of this chain to read requests from. Absent: the blocks of the last `streams.lookBackDays`.',
  ),
  maxOpen: maxOpen.describe('Maximum number of open transfers whose requests were made on this chain.'),
  maxGasDropOff: prefault(coins, '0').describe(
    'Maximum amount of coins that a delivery to this chain may pay to a recipient (gas drop-off), wei.',
  ),
})

export const executorSchema = z.strictObject({
  quoter: z
    .strictObject({
      address: address.describe('Address of the key, which names this provider on all chains.'),
      signer: optional(signerSchema).describe('Where the key is. Only processes of the API need the key, to give quotes.'),
    })
    .describe("The key that signs quotes. The quoter's key does not sign transactions, needs no coins, and must not be the key of a lane."),
  expirySeconds: usually(whole(60, 86_400), 3_600).describe(
    'How long a quote can be used for a request, seconds. The prices of the quote hold for this time.',
  ),
  marginPercent: usually(whole(0, 1_000), 10).describe(
    'Surcharge on the price of gas and coins of the target, percent. The surcharge must cover the changes of prices while a quote can be used.',
  ),
  honourExpired: usually(z.boolean(), false).describe(
    'Whether Portage delivers a request, and pays its coins, after its quote has expired. The request must have been made before the quote expired. Portage then pays the coins at old prices.',
  ),
  chains: z
    .record(chainName, executorChainSchema)
    .describe('Chains of the config between which Portage serves requests: at least two. Portage gives no quotes for other chains.'),
})
