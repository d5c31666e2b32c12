import { z } from 'zod'
import { namesOf } from '../../config/chains.ts'
import { orderedFeePolicySchema } from '../../config/schema/lane-schema.ts'
import { majorityWarnings } from '../../domain/settings/known-names.ts'
import type { Settings, SettingsOrder } from '../../domain/settings/settings.ts'
import { changeSettings, readSettings } from '../../temporal/client/settings/settings.ts'
import { aboutSettings } from '../access/subjects.ts'
import {
  changesNothing,
  field,
  type Fields,
  type Given,
  invalid,
  option,
  type OrderContext,
  type OrderSpec,
  type OrderText,
  placeFields,
} from './spec.ts'
import { feeTexts } from './fees.ts'
import { haltScopeText } from './scope-text.ts'
import { tariffOrders, tariffScopeSchema, tariffSchema } from './tariff.ts'
import { feeScopeSchema, nameSchema as name, oneOf, textSchema, usually, type Value, values } from './values.ts'

const text = textSchema()
export const haltScopeSchema = z
  .strictObject({ bridge: name.optional(), chain: name.optional(), sourceChain: name.optional(), targetChain: name.optional() })
  .meta({ id: 'HaltScope', description: 'Each field narrows the scope. Without fields, the scope is everything.' })

// The id is set only here. In the config, an id would add a separate definition to the JSON Schema.
const policySchema = orderedFeePolicySchema.meta({ id: 'FeePolicy' })

const nodeUses = ['all', 'read', 'send', 'private'] as const
export const nodeChangeSchema = z
  .strictObject({
    chain: name,
    name,
    disabled: z.boolean(),
    url: text.optional().describe('URL of an added node. A secret in the URL must be a ${VARIABLE} of the workers.'),
    use: z.enum(nodeUses).optional(),
  })
  .meta({ id: 'NodeChange' })

const deniedKinds = ['recipient', 'token'] as const
const denied = { what: z.enum(deniedKinds), value: text }
const revokeToken = <Id extends z.ZodString | z.ZodUUID>(jti: Id) => z.strictObject({ kind: z.literal('revokeToken'), jti })

const otherOrders = [
  z.strictObject({ kind: z.literal('halt'), scope: haltScopeSchema }),
  z.strictObject({ kind: z.literal('unhalt'), scope: haltScopeSchema }),
  z.strictObject({ kind: z.literal('deny'), ...denied }),
  z.strictObject({ kind: z.literal('allow'), ...denied }),
  z.strictObject({ kind: z.literal('setFees'), scope: feeScopeSchema, policy: policySchema }),
  z.strictObject({ kind: z.literal('setTariff'), scope: tariffScopeSchema, tariff: tariffSchema }),
  z.strictObject({ kind: z.literal('setNode'), change: nodeChangeSchema }),
  z.strictObject({ kind: z.literal('clearNode'), chain: name, name }),
] as const
// Only a UUID can be the id of a token. Other texts would only fill the list of revoked tokens.
const orderSchema = z.discriminatedUnion('kind', [...otherOrders, revokeToken(z.uuid())]).meta({ id: 'SettingsOrder' })
/** Requests have no `addToken`, because tokens are made on the machine that has the signing key. */
export const auditedOrderSchema = z.union([...otherOrders, revokeToken(text), z.looseObject({ kind: z.literal('addToken') })])

const importedOrders: Value<SettingsOrder[]> = { kind: 'orders', schema: z.array(orderSchema).min(1).max(100) }

const author = { reason: z.string(), by: z.string(), at: z.number().describe('ms since the epoch.') }

export const settingsSchema = z
  .object({
    version: z.number().describe('Number of changes. 0: nothing was ever changed.'),
    halts: z.array(z.object({ scope: haltScopeSchema, ...author })).readonly(),
    denied: z.array(z.object({ kind: denied.what, value: text, ...author })).readonly(),
    fees: z.array(z.object({ scope: feeScopeSchema, policy: policySchema })).readonly(),
    nodes: z.array(nodeChangeSchema).readonly(),
    tariff: z.array(z.object({ scope: tariffScopeSchema, tariff: tariffSchema })).readonly(),
  })
  .meta({ id: 'Settings' })
export const settingsAuditSchema = z
  .object({
    version: z.number(),
    audit: z.array(z.object({ version: z.number(), ...author, order: auditedOrderSchema })).describe('Newest first.'),
  })
  .meta({ id: 'SettingsAudit' })

interface SettingsText<Of extends Fields> extends OrderText {
  readonly fields: Of
  readonly misuse?: (given: Given<Of>) => string | undefined
  readonly orders: (given: Given<Of>, read: () => Promise<Settings>, context: OrderContext) => Promise<SettingsOrder[]> | SettingsOrder[]
  readonly done: (given: Given<Of>) => string
  readonly same?: (given: Given<Of>) => string
}

/** All orders to the settings share one API route, which applies all orders of a request or none. */
function settingsOrder<Of extends Fields>({ orders, done, same, ...rest }: SettingsText<Of>): OrderSpec {
  return {
    ...rest,
    level: 'admin',
    route: '/v1/settings',
    reason: 'required',
    async run(context, _, given: Given<Of>) {
      const { client, config, allow, unlistedTokens } = context
      const wanted = await orders(given, () => readSettings(client), context)
      const { by, reason } = allow(aboutSettings(wanted))
      const known = { ...namesOf(config), ...(unlistedTokens && { unlistedTokens }) }
      const { before, after } = await changeSettings(client, known, { by, reason, orders: wanted })
      const warnings = majorityWarnings(wanted, after, known.voters ?? {})
      const isChanged = after.version > before.version
      const outcome = isChanged ? { done: done(given) } : { unchanged: same?.(given) ?? changesNothing }
      return {
        json: { changed: isChanged, ...withoutAudit(after), ...(warnings.length > 0 && { warnings }) },
        text: { ...outcome, ...(warnings.length > 0 && { warning: warnings.join('\n') }), version: after.version },
      }
    },
  }
}

export function withoutAudit({ audit: _, tokens: __, ...settings }: Settings): Omit<Settings, 'audit' | 'tokens'> {
  return settings
}

const haltFields = { ...placeFields, all: option('--all', values.flag, 'everything') }
const scopeOf = ({ all: _, ...scope }: Given<typeof haltFields>) => scope
const halt = {
  fields: haltFields,
  misuse: (given: Given<typeof haltFields>) => {
    const isNarrowed = Object.values(scopeOf(given)).some((part) => part !== undefined)
    // Without this check, a forgotten option would halt everything.
    return isNarrowed === (given.all === true) ? 'give either --all, or one or more of --bridge, --chain, --source and --target' : undefined
  },
}

const listFields = {
  what: field('<what>', oneOf(deniedKinds), 'which list'),
  value: field('<value>', values.text, 'the recipient or the token'),
}

const nodeFields = (whose: string) => ({
  chain: field('<chain>', values.chainName, 'name of the chain'),
  name: field('<name>', values.chainName, `name ${whose}; portage node list shows all`),
})
const addFields = {
  ...nodeFields('of the new node'),
  url: field('<url>', values.text, 'JSON-RPC over HTTP; a secret in it must be a ${VARIABLE} of the workers, in single quotes'),
  use: field('--use <use>', usually(oneOf(nodeUses), 'all'), 'use of the node'),
}

export const settingsCommands = {
  halt: settingsOrder({
    ...halt,
    summary: 'Sign nothing new for a bridge, a chain, a route or everything',
    details: 'New transfers are accepted and wait without a nonce. Signed transactions are still mined.',
    notes:
      'Every process sees the halt within about two seconds. Several options narrow the scope: --source ethereum --target bsc is one route.',
    examples: [
      'portage halt --all --reason "incident 12"',
      'portage halt --source ethereum --target bsc --reason "wrapper is being replaced"',
    ],
    orders: (given) => [{ kind: 'halt', scope: scopeOf(given) }],
    done: (given) => `halted: ${haltScopeText(scopeOf(given))}`,
    same: (given) => `${haltScopeText(scopeOf(given))} is halted already`,
  }),
  unhalt: settingsOrder({
    ...halt,
    summary: 'End a halt',
    details: 'Give the scope of the halt, as portage settings shows it.',
    examples: ['portage unhalt --all --reason "incident is over"', 'portage unhalt --target bsc --reason "node is back"'],
    orders: (given) => [{ kind: 'unhalt', scope: scopeOf(given) }],
    done: (given) => `no longer halted: ${haltScopeText(scopeOf(given))}`,
    same: (given) => `there is no halt of ${haltScopeText(scopeOf(given))}; portage settings shows all`,
  }),
  deny: settingsOrder({
    summary: 'Decline all transfers to a recipient, or all transfers of a token',
    details: 'A denial does not stop transactions that are already signed.',
    notes: `A recipient is <address> (on every chain) or <target chain>/<address>.
A token is <wormhole chain id>/<64 hex digits>: the chain where the token is native, and its address on that chain.`,
    examples: ['portage deny recipient bsc/0x52908400098527886e0f7030069857d2e4169ee7 --reason "sanctions list"'],
    fields: listFields,
    orders: (given) => [{ kind: 'deny', ...given }],
    done: ({ what, value }) => `denied: ${what} ${value}`,
    same: ({ what, value }) => `${what} ${value} is denied already`,
  }),
  allow: settingsOrder({
    summary: 'Remove a recipient or a token from the deny-list',
    details: 'Run portage transfer retry for transfers that were declined before.',
    examples: ['portage allow recipient bsc/0x52908400098527886e0f7030069857d2e4169ee7 --reason "cleared"'],
    fields: listFields,
    orders: (given) => [{ kind: 'allow', ...given }],
    done: ({ what, value }) => `no longer denied: ${what} ${value}`,
    same: ({ what, value }) => `${what} ${value} is not denied; portage settings shows the deny-list`,
  }),
  'fees set': settingsOrder(feeTexts.set),
  'fees clear': settingsOrder(feeTexts.clear),
  'tariff asset': settingsOrder(tariffOrders.asset),
  'tariff fee': settingsOrder(tariffOrders.fee),
  'tariff route': settingsOrder(tariffOrders.route),
  'node add': settingsOrder({
    summary: 'Add a node to a chain',
    details: 'Each worker checks that the node serves the right network before it uses the node.',
    notes: `The URL is kept in Temporal's history, so Portage refuses a key in it. The workers replace \${VARIABLE} from their own environment, if
the config lists it in urlVariables of the chain. An added node answers reads only while the nodes in the config do
not answer, and does not count in any majority.`,
    examples: [
      'portage node add bsc spare http://10.0.0.7:8545 --reason "more capacity"',
      `portage node add ethereum provider 'https://eth.example/v3/\${NODE_KEY}' --use read --reason "second source"`,
    ],
    fields: addFields,
    orders: (given) => [{ kind: 'setNode', change: { ...given, disabled: false } }],
    done: ({ chain, name: node }) =>
      `added: ${chain}/${node}; portage node list shows its state, and portage node remove ${chain} ${node} ends its use`,
    same: ({ chain, name: node }) => `${chain}/${node} is there already`,
  }),
  'node remove': settingsOrder({
    summary: 'Remove a node that was added',
    details: 'To end the use of a node in the config, run portage node disable.',
    examples: ['portage node remove bsc spare --reason "contract ended"'],
    fields: nodeFields('of a node that was added'),
    orders: async ({ chain, name: node }, read, { config }) => {
      const configured = Object.hasOwn(config.chains, chain) && namesOf(config).nodes[chain]?.includes(node)
      if (configured)
        throw invalid(`${chain}/${node} is in the config: portage node disable ends its use, and portage node enable resumes it.`)
      if (!changeOf(await read(), chain, node)) throw invalid(`there is no added node ${chain}/${node}`)
      return [{ kind: 'clearNode', chain, name: node }]
    },
    done: ({ chain, name: node }) => `removed: ${chain}/${node}`,
  }),
  'node enable': settingsOrder({
    summary: 'End the disabling of a node: Portage uses the node again',
    examples: ['portage node enable bsc node-2 --reason "it is in sync again"'],
    fields: nodeFields('of the node'),
    orders: async ({ chain, name: node }, read) => {
      const change = changeOf(await read(), chain, node)
      const isAdded = change?.url !== undefined
      return [isAdded ? { kind: 'setNode', change: { ...change, disabled: false } } : { kind: 'clearNode', chain, name: node }]
    },
    done: ({ chain, name: node }) => `enabled: ${chain}/${node}`,
    same: ({ chain, name: node }) => `${chain}/${node} is enabled already`,
  }),
  'node disable': settingsOrder({
    summary: 'Disable a node: Portage neither reads from it nor sends to it until it is enabled again',
    details:
      'A disabled node counts as a node that does not answer. The command warns if the other nodes are not a majority. Every process obeys within about two seconds.',
    examples: ['portage node disable bsc node-2 --reason "it lies about receipts"'],
    fields: nodeFields('of the node'),
    orders: async ({ chain, name: node }, read) => {
      return [{ kind: 'setNode', change: { ...changeOf(await read(), chain, node), chain, name: node, disabled: true } }]
    },
    done: ({ chain, name: node }) => `disabled: ${chain}/${node}`,
    same: ({ chain, name: node }) => `${chain}/${node} is disabled already`,
  }),
  'settings import': {
    ...settingsOrder({
      summary:
        'Change the settings: halts, deny-list, fees, tariff, nodes. Portage obeys all orders or none, and you may repeat the orders',
      details: 'All other settings stay unchanged.',
      notes: 'The command reads a file that portage settings export wrote; - reads it from stdin.',
      examples: ['portage settings import settings.json --reason "Temporal was set up anew"'],
      fields: { orders: field('<file>', importedOrders, 'the orders') },
      orders: ({ orders }) => orders,
      done: ({ orders }) => `${orders.length} orders`,
      same: () => 'everything in the file is set already',
    }),
    answer: settingsSchema.extend({
      warnings: z.array(z.string()).optional().describe('Majorities that the change leaves without enough nodes; absent: none.'),
    }),
  },
} satisfies Record<string, OrderSpec>

function changeOf({ nodes }: Settings, chain: string, name: string) {
  return nodes.find((one) => one.chain === chain && one.name === name)
}
