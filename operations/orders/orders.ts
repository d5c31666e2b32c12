import { laneOrders } from './lane.ts'
import { notificationOrders } from './notifications.ts'
import { paymentOrders } from './payments.ts'
import { settingsCommands } from './settings.ts'
import { option, type OrderSpec } from './spec.ts'
import { streamOrders } from './stream.ts'
import { transferOrderLevel, type TransferOrderName, transferOrderTexts } from './transfer-text.ts'
import { values } from './values.ts'

const someId = '6d1b4c0c5f0a3e21'

function transferOrder(name: TransferOrderName, ...examples: readonly string[]): OrderSpec {
  const { summary, details } = transferOrderTexts[name]
  return {
    level: transferOrderLevel,
    route: `/v1/transfers/:id/${name}`,
    ...{ summary, details },
    notes:
      'Without an id, at least one option must select transfers. For more than one transfer, the command asks for a confirmation. In a script, give --yes.',
    examples: [...examples, `portage transfer ${name} --state parked --target bsc --older-than 1h --dry-run --reason "a test"`],
    reason: 'required',
  }
}

const keys = 'The key file exists only on this machine.'

/**
 * `write`: transfers, audits, checkpoints, and orders that only make a stream read again or start transfers. `sign`:
 * lanes, payments and other orders to streams. `admin`: all other orders (docs/operate/access.md).
 */
export const orders = {
  'transfer submit': {
    level: 'write',
    route: '/v1/transfers',
    summary: 'Submit a transfer: a signed VAA, the chain, emitter and sequence of a VAA, or the number of a native transfer',
    notes: 'The command needs a running API.',
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
  ...laneOrders,
  ...paymentOrders,
  ...streamOrders,
  ...settingsCommands,
  ...notificationOrders,
  'audit run': {
    level: 'write',
    route: '/v1/audits',
    summary: 'Audit delivered transfers now, in addition to the schedule',
    notes:
      'The command waits for the result. The exit code is 1 if a delivery was undone. An audit cannot look further back than the retention time of Temporal.',
    examples: ['portage audit run --chain ethereum --hours 48'],
    fields: {
      chain: option('--chain <name>', values.text, 'only this target chain'),
      hours: option('--hours <number>', values.hours, 'audit the deliveries of the last N hours (default: audit.hours in the config)'),
    },
    reason: 'optional',
  },
  'deploy promote': {
    level: 'admin',
    onlyCommand: 'A deployment runs it where the new version is installed.',
    summary: 'Send new work to a version of the workers. Lanes and streams continue with this version at their next task',
    details: 'To roll back, promote the earlier version.',
    notes: `Portage refuses the promotion if no worker of the version has polled yet, or if the version has no worker on a queue of the current version.
Start workers of the version for all roles first.
The same with Temporal's own tool:
  temporal worker deployment set-current-version --deployment-name <name> --build-id <id>`,
    examples: ['portage deploy promote 2.4.1 --ramp 10 --reason "a tenth first"', 'portage deploy promote 2.4.1 --reason "release 2.4.1"'],
  },
  'token create': {
    level: 'admin',
    onlyCommand: keys,
    summary: 'Make a token and print it. Portage shows the token only once',
    details: 'Every order keeps the name of its token.',
    examples: [
      'portage token create --name alice --level admin',
      'portage token create --name bsc-desk --level sign --chain bsc --expires 30d',
      'export PORTAGE_TOKEN=$(portage token create --name ci --level write --expires 2h | tail -n 1)',
    ],
  },
  'token revoke': {
    level: 'admin',
    route: '/v1/settings',
    summary: 'Refuse a token from now on',
    details: 'Every process refuses the token within about two seconds.',
    examples: [
      'portage token revoke 6d1b4c0c-5f0a-4e21-9c1e-0a2b3c4d5e6f --reason "the laptop was stolen"',
      'portage token revoke --stolen found.txt --reason "seen in a chat"',
    ],
    reason: 'required',
  },
  'token rotate-key': {
    level: 'admin',
    onlyCommand: keys,
    summary: 'Make a new key, which signs from now on',
    details: 'An older key verifies the tokens that it signed until the key is removed.',
    examples: ['portage token rotate-key'],
  },
  'token remove-key': {
    level: 'admin',
    onlyCommand: keys,
    summary: 'Remove a key that no longer signs: every token that it signed is refused from now on',
    examples: ['portage token remove-key kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'],
  },
} satisfies Record<string, OrderSpec>

export type OrderName = keyof typeof orders

export function orderOf(name: OrderName): OrderSpec {
  return orders[name]
}

export function orderNamed(command: string): OrderName | undefined {
  return Object.hasOwn(orders, command) ? (command as OrderName) : undefined
}
