import { optional, prefault, z } from 'zod'
import { leastGasLimit } from '../../domain/transfer/content.ts'
import { address, amount, chainName, gasUnits, path, text, url, usually, whole } from '../load/values.ts'
import { deliveredViewSchema, maxOpen } from './bridge-schema.ts'
import { signerSchema } from './lane-schema.ts'

/** At most 8 digits, so that a price fits into a quote (below 2^64 / 10^10 dollars) even times 11 with the margin. */
export const dollars = text(
  /^[0-9]{1,8}(\.[0-9]{1,10})?$/,
  'must be dollars in quotes, like 3000.25: at most 8 digits, and 10 after the point',
).refine((value) => /[1-9]/.test(value), 'must be above 0')
const coins = amount.refine((value) => BigInt(value) < 2n ** 128n, 'must be below 2^128')

const payerOf = (call: string, contract: string) =>
  optional(address).describe(`Contract on this chain that pays the drop-off with ${call} (${contract}).`)

const executorChainSchema = z.strictObject({
  contract: address.describe("The chain's Executor contract, which takes the requests."),
  payee: address.describe(
    'Account that gets the payments of requests on this chain, at once. A contract as payee must accept coins with 2,300 gas.',
  ),
  price: dollars.describe("Dollars that one of the chain's coins is worth, as text."),
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
    'Highest gas limit of a delivery to this chain that a request may ask for, at least 100000. Portage starts no delivery for a request for less.',
  ),
  maxMsgValue: prefault(coins, '0').describe(
    'Highest amount of coins that a delivery to this chain may carry, including the drop-off, wei.',
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
  maxOpen: maxOpen.describe('Highest number of open transfers whose requests were made on this chain.'),
  maxGasDropOff: prefault(coins, '0').describe(
    'Highest amount of coins that a delivery to this chain may pay to a recipient (gas drop-off), wei.',
  ),
})

export const executorSchema = z.strictObject({
  quoter: z
    .strictObject({
      address: address.describe('Address of the key, which names this provider on all chains.'),
      signer: optional(signerSchema).describe('Where the key is. Only processes of the API need the key, to give quotes.'),
    })
    .describe("The key that signs quotes. The quoter's key signs no transactions and needs no coins, and must not be the key of a lane."),
  expirySeconds: usually(whole(60, 86_400), 3_600).describe(
    'How long a quote can be used for a request, seconds. The prices of the quote hold for this time.',
  ),
  marginPercent: usually(whole(0, 1_000), 10).describe(
    'Surcharge on the price of gas and coins of the target, percent. The surcharge must cover the changes of prices while a quote can be used.',
  ),
  honourExpired: usually(z.boolean(), false).describe(
    'Whether Portage delivers a request, and pays its coins, after its quote has expired. The request must have been made before that. Portage then pays the coins at old prices.',
  ),
  priceFeed: z
    .strictObject({
      sources: z
        .array(
          z.discriminatedUnion('kind', [
            z.strictObject({
              kind: z.literal('file').describe('A file of this machine.'),
              path: path.describe('A JSON file, relative to the config file.'),
            }),
            z.strictObject({
              kind: z.literal('http').describe('A web server.'),
              url: url.describe('URL that answers GET with the JSON of prices, in at most 64 KiB.'),
            }),
          ]),
        )
        .min(1)
        .max(9)
        .describe(
          'Sources of JSON with `at` (seconds since the epoch) and `dollars` (chain → price as text). More than half of the sources must be current. Portage uses the median; of an even number of prices, the one in the middle that makes the delivery dearer.',
        ),
      everySeconds: usually(whole(1, 3_600), 30).describe('How often the sources are read.'),
      maxAgeSeconds: usually(whole(10, 86_400), 600).describe('Highest age of prices that Portage uses for quotes.'),
      mostChangePercent: usually(whole(1, 1_000), 50).describe(
        'Highest difference between a price of the feed and `price` of the chain, percent. If a price differs more, Portage gives no quotes.',
      ),
    })
    .optional()
    .describe(
      "Sources of the prices of the chains' coins, which Portage reads again and again and uses for its quotes. Absent: quotes use `price` of each chain.",
    ),
  chains: z
    .record(chainName, executorChainSchema)
    .describe('Chains of the config between which Portage serves requests: at least two. Portage gives no quotes for other chains.'),
})
