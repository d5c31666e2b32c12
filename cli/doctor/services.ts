import { reachSpy } from '../../operations/causes/collect.ts'
import type { Config } from '../../config/schema/schema.ts'
import { trimEnd } from '../../domain/text/trim-end.ts'
import { redactUrl } from '../../observability/redact.ts'
import { type ChainCheck, type Check, checkOf, checkTimeoutMs, fail, type Finding, ifReachable, look, lookOnChains, warn } from './check.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { createArchiveStore } from '../../operations/archive/create-store.ts'
import { type Freshness, freshnessOf, readProgress } from '../../operations/archive/transfers.ts'
import { retentionHours } from '../../temporal/client/transfers/closed-runs.ts'
import { createInboundLimits } from '../../bridges/native-bridge/inbound-limits.ts'
import { highestNonce } from '../../bridges/native-bridge/streams.ts'
import { chainOf } from '../../config/chains.ts'
import type { NativeBridgeConfig } from '../../config/schema/bridge-schema.ts'
import type { ConfiguredChain as Reader } from '../../chains/registry.ts'
import { sourceTitle, sourcesWithoutNode, tokenBridgesOf } from '../../bridges/configured-emitters.ts'
import { allShow, readView } from '../../bridges/kit/views.ts'
import { createReceivers, type ReceiverRoute } from '../../bridges/receivers/receivers.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import type { Emitter } from '../../bridges/kit/published.ts'

export async function checkServices({ bridges, chains }: Config): Promise<Check[]> {
  const wormhole = bridges['wormhole-token-bridge']
  if (!wormhole) return []
  const area = 'bridge wormhole-token-bridge'
  const { spies, guardianApis, wormholescanApis } = wormhole
  return Promise.all([
    ...Object.keys(chains).map((chain) => look(area, `fees of ${chain}`, () => feesFinding(chain, wormhole))),
    ...spies.map((one) => look(area, `spy ${one.address}`, () => reachSpy(one, checkTimeoutMs / 2).then(() => 'reachable'))),
    ...guardianApis.map((url) => checkApi(area, 'guardian API', url, `v1/signed_vaa/${noVaa}`, 'guardianApis')),
    ...wormholescanApis.map((url) => checkApi(area, 'Wormholescan', url, `api/v1/vaas/${noVaa}`, 'wormholescanApis')),
  ])
}

/**
 * Warns of a chain that has neither a fee nor a free route in the config: unless operators set a tariff, transfers to
 * it are declined (FEE_NOT_CONFIGURED), except a payload 3 with a configured call.
 */
function feesFinding(chain: string, { minimumFees, freeRoutes }: NonNullable<Config['bridges']['wormhole-token-bridge']>): Finding {
  const tokens = Object.keys(minimumFees[chain] ?? {}).length
  const isFree = freeRoutes.some(({ target }) => target === chain)
  if (tokens > 0 || isFree) return `of ${tokens} tokens${isFree ? '; routes to it are free' : ''}`
  const remedy = `Name tokens in minimumFees.${chain} of the bridge, or the chain in its freeRoutes; no action if nothing is to be delivered there.`
  return warn('no token has a fee, and no route there is free: nothing is delivered there', remedy)
}

/** Path of a message that cannot exist. */
const noVaa = `1/${'0'.repeat(64)}/0`

/** Checks whether an API of the config field `field` works, which any status below 500 shows. */
export function checkApi(area: string, title: string, url: string, path: string, field: string): Promise<Check> {
  const remedy = `Check the URL in ${field}, and that it can be reached from here.`
  return look(area, `${title} ${redactUrl(url)}`, async () => {
    try {
      const answer = await fetch(`${trimEnd(url, '/')}/${path}`, { signal: AbortSignal.timeout(checkTimeoutMs / 2) })
      await answer.body?.cancel()
      return answer.status < 500 ? 'reachable' : fail(`answers ${answer.status}`, remedy)
    } catch {
      return fail('does not answer', remedy)
    }
  })
}

type Route = NativeBridgeConfig['routes'][number]

export function checkReceiverRoutes(config: Config): Promise<Check[]> {
  const checks = (config.bridges.receivers?.routes ?? []).map((route, index): ChainCheck => {
    return { chain: route.target, area: 'bridge receivers', name: `route ${index}`, at: (reader) => receiverFinding(reader, route) }
  })
  return lookOnChains(config, checks)
}

const noMessage = { bytes: new Uint8Array(), payload: new Uint8Array(), emitterChain: 0, digest: `0x${'0'.repeat(64)}`, sequence: '0' }

export async function receiverFinding(reader: Pick<Reader, 'name' | 'call' | 'hasCode'>, route: ReceiverRoute): Promise<Finding> {
  const { contract, delivered, source, emitter, target } = route
  const { contract: shownBy = contract, view } = delivered
  for (const [address, field] of [[contract, 'contract'] as const, [shownBy, 'delivered.contract'] as const])
    if (!(await reader.hasCode(address))) return noCode(address, field)
  const place = `${shownBy} ${view}`
  const remedy =
    'Correct delivered of this route. While the view does not show deliveries, each message is sent several times and then parked.'
  try {
    const views = createReceivers([route]).delivered({ ...noMessage, source, emitter, content: route })
    if (await allShow(reader, views, 'latest')) return warn(`${place} shows a message that does not exist as delivered`, remedy)
  } catch (error) {
    return fail(`${place} does not answer: ${toRelayerError(error).message}`, remedy)
  }
  return `${contract} on ${target}`
}

export async function checkNativeRoutes(config: Config): Promise<Check[]> {
  const checksOf = (route: Route): ChainCheck[] => {
    const { source, target } = route
    const area = `route ${source} → ${target}`
    const role = (address: string): ChainCheck => {
      return { chain: target, area, name: `role of ${address}`, at: (reader) => checkRole(reader, route, address) }
    }
    return [
      { chain: source, area, name: 'source contract', at: (reader) => checkSource(reader, route) },
      { chain: target, area, name: 'target contract', at: (reader) => checkTarget(reader, route) },
      ...chainOf(config, target).lanes.map(({ address }) => role(address)),
    ]
  }
  const checks = (config.bridges['native-bridge']?.routes ?? []).flatMap(checksOf)
  return [...(await lookOnChains(config, checks)), ...checkSmallestAmounts(config)]
}

/** Warns of routes without `minimumAmount`, because only the operator knows which amounts are worth their gas. */
export function checkSmallestAmounts({ bridges }: Pick<Config, 'bridges'>): Check[] {
  return (bridges['native-bridge']?.routes ?? []).flatMap(({ source, target, minimumAmount }) => {
    if (minimumAmount !== undefined) return []
    const remedy = "Set minimumAmount of this route to what the gas of a delivery is worth, or to '0' to deliver all amounts."
    return [checkOf(`route ${source} → ${target}`, 'smallest amount', warn('any amount is delivered, so dust makes you pay gas', remedy))]
  })
}

async function checkSource(reader: Reader, { sourceContract }: Route): Promise<Finding> {
  if (!(await reader.hasCode(sourceContract))) return noCode(sourceContract, 'sourceContract')
  const highest = await highestNonce(reader, sourceContract, 0n, 'latest')
  return `${sourceContract}, ${highest} transfer${highest === 1n ? '' : 's'} so far`
}

async function checkTarget(reader: Reader, { targetContract }: Route): Promise<Finding> {
  if (!(await reader.hasCode(targetContract))) return noCode(targetContract, 'targetContract')
  const { paused, used, cap } = await createInboundLimits(reader, targetContract).read(targetContract)
  const detail = `${targetContract}, ${used} of ${cap} accepted today`
  if (paused) return warn(`${detail}; it is paused`, 'None needed: transfers wait until its owner resumes it.')
  const fund = 'The owner of the bridge must fund its insurance fund, or correct its risk denominator.'
  if (cap <= 1n) return fail(`${detail}: nothing is accepted`, fund)
  return used + 1n >= cap ? warn(`${detail}: it is spent`, 'None needed: it renews at midnight UTC.') : detail
}

async function checkRole(reader: Reader, { targetContract }: Route, address: string): Promise<Finding> {
  if (await createInboundLimits(reader, targetContract).mayComplete(address)) return 'has RELAYER_ROLE'
  const grant =
    'The admin of the bridge must grant it: grantRole(keccak256("RELAYER_ROLE"), the address). Until then its lane completes nothing.'
  return fail(`has no RELAYER_ROLE of ${targetContract}`, grant)
}

function noCode(contract: string, field: string): Finding {
  return fail(`${contract} has no code on this network`, `Correct ${field} of this route.`)
}

/**
 * For each source without a node, compares its emitter with the emitter that each target has registered. A target
 * rejects other emitters.
 */
export async function checkSources(config: Config): Promise<Check[]> {
  const sources = sourcesWithoutNode(config)
  if (sources.length === 0) return []
  const checks = tokenBridgesOf(config.chains).map(({ name: chain, tokenBridge }): ChainCheck => {
    return { chain, area: `chain ${chain}`, name: 'sources without a node', at: (reader) => checkRegistered(reader, tokenBridge, sources) }
  })
  return lookOnChains(config, checks)
}

const unregistered = '0'.repeat(64)

export async function checkRegistered(
  reader: Pick<Reader, 'name' | 'call'>,
  tokenBridge: string,
  sources: readonly Emitter[],
): Promise<Finding> {
  const registered = async (emitterChain: number) => {
    const view = { contract: tokenBridge, view: 'bridgeContracts(uint16)', args: [emitterChain], returns: 'bytes32' }
    return String((await readView(reader, view, 'majority-latest'))[0]).slice(2)
  }
  const found = await Promise.all(sources.map(async (one) => ({ ...one, registered: await registered(one.emitterChain) })))
  const titles = (some: typeof found) => some.map(({ sourceChain }) => sourceTitle(sourceChain)).join(', ')
  const others = found.filter((one) => one.registered !== one.emitter && one.registered !== unregistered)
  const none = found.filter((one) => one.registered === unregistered)
  const detail = `${found.length - others.length - none.length} of ${found.length} are registered${none.length > 0 ? `; none for ${titles(none)}` : ''}`
  if (others.length === 0) return detail
  const remedy = 'Their transfers are refused here (EMITTER_UNKNOWN): correct everySource or emitters of bridges.wormhole-token-bridge.'
  return warn(`${detail}; another emitter than the config for ${titles(others)}`, remedy)
}

export async function checkArchive({ archive }: Config, temporal: TemporalAccess): Promise<Check[]> {
  if (!archive) return []
  return ifReachable(temporal, async (client) => [
    await look('archive', archive.kind === 's3' ? `bucket ${archive.bucket}` : archive.path, async () => {
      const [progress, retention] = await Promise.all([readProgress(createArchiveStore(archive)), retentionHours(client)])
      return archiveFinding(freshnessOf(progress, retention, Date.now()))
    }),
  ])
}

function archiveFinding({ through, behindHours, retentionHours: retention, state }: Freshness): Finding {
  const said = through === undefined ? 'nothing is archived yet' : `has all transfers that closed before ${through}, ${behindHours} h ago`
  const text = `${said}; Temporal keeps closed workflows ${retention} h`
  if (state === 'fresh') return text
  const remedy = 'portage archive run, by cron or a CronJob; or a longer retention'
  return state === 'late' ? warn(text, remedy) : fail(`${text}: records of closed transfers may be lost`, remedy)
}
