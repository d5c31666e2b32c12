import type { OrderSpec } from './spec.ts'
import { transferOrderLevel, type TransferOrderName, transferOrderTexts } from './transfer-text.ts'

const someId = '6d1b4c0c5f0a3e21'

/** Command and route select transfers in their own ways. */
function transferOrder(name: TransferOrderName, ...examples: readonly string[]): OrderSpec {
  const { summary, details } = transferOrderTexts[name]
  return {
    level: transferOrderLevel,
    route: `/v1/transfers/:id/${name}`,
    ...{ summary, details },
    notes: 'Without an id at least one option has to select. Before more than one is ordered it asks; a script gives --yes.',
    examples: [...examples, `portage transfer ${name} --state parked --target bsc --older-than 1h --dry-run --reason "a test"`],
    reason: 'required',
  }
}

export const transferOrders = {
  'transfer submit': {
    level: 'write',
    route: '/v1/transfers',
    summary: 'Submit a signed VAA, the place of one that the guardian APIs have, or the place of a native transfer',
    details: 'Needs a running API.',
    examples: [
      'portage transfer submit AQAAAAABAA…',
      'portage transfer submit - < vaa.base64',
      'portage transfer submit - --priority 1 --deadline 90 < vaa.base64',
      'portage transfer submit --native ethereum:avalanche:17',
      `portage transfer submit --chain ethereum --sequence 269170 \\
    --emitter 0000000000000000000000003ee18b2214aff97000d974cf647e7c347e8fa585`,
    ],
  },
  'transfer retry': transferOrder(
    'retry',
    `portage transfer retry ${someId} --reason "the node is back"`,
    'portage transfer retry --state waiting --code LANE_NONE --yes --reason "the lane has funds"',
  ),
  'transfer cancel': transferOrder('cancel', `portage transfer cancel ${someId} --reason "recipient asked for it"`),
  'transfer expedite': transferOrder('expedite', `portage transfer expedite ${someId} --reason "the recipient waits"`),
} satisfies Record<string, OrderSpec>
