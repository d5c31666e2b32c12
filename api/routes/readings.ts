import { z } from 'zod'
import { coinOf, explorerOf } from '../../config/networks.ts'
import { collectCauses } from '../../operations/causes/collect.ts'
import { causeReportSchema } from '../../operations/causes/schema.ts'
import { listReceivers } from '../../operations/notifications/receiver-report.ts'
import { settingsAuditSchema, settingsSchema } from '../../operations/orders/settings.ts'
import { limitSchema } from '../../operations/orders/values.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import { createTrafficReader, trafficMinutes } from '../../temporal/client/transfers/traffic.ts'
import { flowSchema, linksSchema, nodesSchema, spendingSchema } from '../answers.ts'
import type { Api, ApiDeps } from '../deps.ts'

const access = { config: { access: 'read' } } as const

/** Time (ms) for which callers share an answer, because a read calls Temporal and every node. */
const causesKeptMs = 2_000

/** Adds `GET /v1/stuck`. Returns the function that reads the causes, which other routes use as well. */
export function stuckRoute(app: Api, { config, client, spies, executor, network }: ApiDeps): () => ReturnType<typeof collectCauses> {
  const options = { config, environment: process.env, spies, priceOf: executor && network.priceOf }
  const collect = keptRead(() => collectCauses(client, options), { fromAnswer: causesKeptMs })
  const schema = { summary: 'Causes of stuck transfers, and their remedies', response: { 200: causeReportSchema } }
  app.get('/v1/stuck', { ...access, schema }, async () => {
    const { causes, ...report } = await collect()
    return { ...report, causes: causes.map((cause) => ({ ...cause, examples: [...cause.examples], next: [...cause.next] })) }
  })
  return collect
}

export function nodeRoutes(app: Api, { network }: ApiDeps): void {
  const schema = { summary: 'The chains that this process reads, and their nodes', response: { 200: nodesSchema } }
  app.get('/v1/nodes', { ...access, schema }, () => {
    const chains = [...network.chains.values()]
    return {
      asOf: new Date().toISOString(),
      chains: chains.map(({ name, heads: { current } }) => ({
        chain: name,
        ...(current && {
          latest: current.latest.height,
          ...(current.time !== undefined && { latestAt: new Date(current.time * 1_000).toISOString() }),
          finalized: current.finalized,
        }),
      })),
      nodes: chains.flatMap((chain) =>
        chain.nodes().map(({ askedAt, ...node }) => ({
          ...{ chain: chain.name, ...node },
          ...(askedAt !== undefined && { asOf: new Date(askedAt).toISOString() }),
        })),
      ),
    }
  })
}

export function settingsRoutes(app: Api, { client }: ApiDeps): void {
  const show = {
    summary: 'The settings: everything that operators have changed while Portage runs (halts, deny-list, fees, tariff, nodes)',
    response: { 200: settingsSchema },
  }
  app.get('/v1/settings', { ...access, schema: show }, () => readSettings(client))

  const audit = {
    summary: 'The latest 200 changes of the settings, newest first',
    querystring: z.strictObject({ limit: limitSchema(200, 50).describe('Maximum number of changes.') }),
    response: { 200: settingsAuditSchema },
  }
  app.get('/v1/settings/audit', { ...access, schema: audit }, async (request) => {
    const { version, audit: changes } = await readSettings(client)
    return { version, audit: changes.toReversed().slice(0, request.query.limit) }
  })
}

/** The answer keeps fields that this schema does not name, so that it shows the fields of a newer notifier. */
const receiverSchema = z
  .looseObject({
    name: z.string(),
    host: z.string().describe('Scheme, host and port of its URL.'),
    state: z
      .enum(['active', 'failing', 'disabled', 'waiting', 'unknown'])
      .describe('waiting: its notifier has not begun. unknown: it did not answer.'),
    events: z.array(z.string()).readonly(),
    unsent: z.number().optional().describe('Notifications that it has not accepted yet. More may wait in Temporal.'),
  })
  .meta({ id: 'Receiver' })

export function notificationRoutes(app: Api, { client, config }: ApiDeps): void {
  const schema = {
    summary: 'The receivers of notifications, and the progress of each',
    response: { 200: z.object({ receivers: z.array(receiverSchema) }) },
  }
  app.get('/v1/notifications', { ...access, schema }, async () => ({
    receivers: (await listReceivers(client, config.notifications)).map((one) => ({ ...one })),
  }))
}

/** `GET /v1/flow` needs no worker, because it reads only Temporal's visibility lists. */
export function flowRoute(app: Api, { client }: ApiDeps): void {
  const reader = createTrafficReader(client)
  const schema = {
    summary: 'Transfers between the chains: the open transfers by state, and the deliveries and their times in a window',
    querystring: z.strictObject({
      minutes: z
        .enum(trafficMinutes.map(String) as [string, ...string[]])
        .default('60')
        .describe('Length of the window.'),
    }),
    response: { 200: flowSchema },
  }
  app.get('/v1/flow', { ...access, schema }, async ({ query }) => {
    const minutes = trafficMinutes.find((one) => String(one) === query.minutes) ?? 60
    const { routes, steps, ...rest } = await reader.read(minutes)
    return { ...rest, routes: [...routes], steps: [...steps] }
  })
}

/** The spending of other lanes is in the metrics of the processes that have their keys. */
export function spendingRoute(app: Api, { spending }: ApiDeps): void {
  const schema = { summary: 'Recent spending of the keys of this process, and their limits', response: { 200: spendingSchema } }
  app.get('/v1/spending', { ...access, schema }, () => ({
    asOf: new Date().toISOString(),
    lanes: (spending?.() ?? []).map((row) => ({
      lane: row.lane,
      spending: row.spending.map(({ kind, window, spent, limit }) => ({ kind, window, spent: String(spent), limit: String(limit) })),
    })),
  }))
}

export function linksRoute(app: Api, { config: { temporal, chains } }: ApiDeps): void {
  const chainLinks = Object.entries(chains).map(([name, chain]) => {
    const { networkId } = chain
    return [name, { networkId, explorer: explorerOf(chain), coin: coinOf({ chains }, networkId) }] as const
  })
  const links = { namespace: temporal.namespace, temporalWebUi: temporal.webUi, chains: Object.fromEntries(chainLinks) }
  const schema = {
    summary: "Base URLs of Temporal's Web UI and of block explorers, and the coins of chains",
    response: { 200: linksSchema },
  }
  app.get('/v1/links', { ...access, schema }, () => links)
}
