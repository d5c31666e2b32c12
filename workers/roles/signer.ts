import { problemOf } from '../../observability/severity.ts'
import type { Endpoint } from '../../bridges/port.ts'
import type { ProvedRoute, Signer, SigningPolicy } from '../../chains/signing-port.ts'
import type { ChainConfig, LaneSettings } from '../../config/schema/schema.ts'
import { signingLimits } from '../../config/chains.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { selectorOf } from '../../domain/fees/fees.ts'
import { type Intent, laneId } from '../../domain/lane/lane.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { BridgeName, ChainName, TransferRoute } from '../../domain/transfer/transfer.ts'
import type { Logger } from '../../observability/logger.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import { isUnread } from '../../temporal/client/settings/settings-watch.ts'

interface PolicyParts {
  readonly chainName: ChainName
  readonly chain: Pick<ChainConfig, 'family' | 'networkId' | 'lanes' | 'treasury' | 'signing' | 'topUp'>
  readonly lane: Pick<LaneSettings, 'address' | 'allow' | 'operatorCalls' | 'signing'>
  readonly dataFee: SigningPolicy['dataFee']
  readonly finalNonce: SigningPolicy['finalNonce']
  readonly bridges: readonly (Pick<Endpoint, 'calls' | 'paidCalls' | 'openCalls' | 'proveCall' | 'planned'> & {
    readonly bridge: BridgeName
  })[]
  readonly settings: () => Settings
  readonly spendingFolder: string
}

/**
 * Policy of a lane's key, which signs only proven deliveries, listed calls and payments. Throws CONFIG_INVALID if the
 * config lists a call with which a bridge delivers.
 */
export function signingPolicy(parts: PolicyParts): SigningPolicy {
  const { chainName, chain, lane, dataFee, finalNonce, bridges, settings, spendingFolder } = parts
  const { lanes, treasury, topUp } = chain
  const { address, allow, operatorCalls = {} } = lane
  const calls: Record<string, string[]> = {}
  for (const [contract, selectors] of bridges.flatMap((bridge) => Object.entries(bridge.calls))) (calls[contract] ??= []).push(...selectors)
  for (const [contract, selectors] of Object.entries(operatorCalls)) {
    const delivery = selectors.find((start) => calls[contract]?.includes(selectorOf(start) ?? ''))
    if (delivery === undefined) continue
    const detail = `chains.${chainName}.lanes[].operatorCalls lists ${delivery} of ${contract}, with which a bridge delivers: it is signed only with a proof.`
    throw new RelayerError('CONFIG_INVALID', { detail, facts: { lane: address } })
  }
  const packages = new Set(bridges.filter(({ planned }) => planned).map(({ bridge }) => bridge))
  const payees = treasury ? [treasury.address] : []
  const others = lanes.map((one) => one.address).filter((other) => other !== address)
  return {
    calls: allow ?? calls,
    paidCalls: paidCallsOf(bridges),
    // A lane with a list of allowed calls makes only these calls.
    openCalls: allow ? {} : Object.assign({}, ...bridges.map((bridge) => bridge.openCalls ?? {})),
    operatorCalls,
    payees,
    otherLanes: others,
    // If the config names the lane that pays top-ups, only this lane's key signs top-ups, so a thief of another key
    // cannot.
    topUps: chain.signing.topUps && (topUp === undefined || topUp.from === address),
    topUpLimits: topUp,
    tokens: treasury?.tokens ?? [],
    proveCall: (call, gasLimit) => proveCall({ bridges, targetChain: chainName }, call, gasLimit),
    settings: () => demandRead(settings()),
    packages,
    limits: signingLimits(chain, lane),
    dataFee,
    finalNonce,
    lane: laneId(chain.family, chain.networkId, address),
    fieldOf: (what) => (topUp && what === 'topUps' ? `chains.${chainName}.topUp.from` : fieldOf(chainName, lane, what)),
    spendingFolder,
  }
}

/**
 * If bridges share a function, the highest of their maximums counts here. The proof of each bridge applies the bridge's
 * own maximum.
 */
function paidCallsOf(bridges: PolicyParts['bridges']): SigningPolicy['paidCalls'] {
  const all: Record<string, Record<string, string>> = {}
  for (const [contract, paid] of bridges.flatMap(({ paidCalls = {} }) => Object.entries(paidCalls))) {
    const own = (all[contract] ??= {})
    for (const [selector, most] of Object.entries(paid)) if (BigInt(most) > BigInt(own[selector] ?? 0)) own[selector] = most
  }
  return all
}

/** A bridge whose deliveries have the form of the call must prove the call. Throws CALL_UNJUSTIFIED, read errors. */
async function proveCall(
  { bridges, targetChain }: Pick<PolicyParts, 'bridges'> & Pick<TransferRoute, 'targetChain'>,
  call: Intent,
  gasLimit: string,
): Promise<ProvedRoute[]> {
  const [to, selector] = [call.to.toLowerCase(), selectorOf(call.data) ?? '']
  const provers = bridges.filter(({ calls, openCalls = {} }) => selector in openCalls || calls[to]?.includes(selector))
  if (provers.length === 0)
    throw new RelayerError('CALL_UNJUSTIFIED', { detail: 'No bridge of the config can prove it.', facts: { to, selector } })
  let refusal: RelayerError | undefined
  for (const { bridge, proveCall: prove } of provers) {
    try {
      const sources = await prove(call, gasLimit)
      return sources.map((one) => ({ bridge, ...(typeof one === 'string' ? { sourceChain: one } : one), targetChain }))
    } catch (thrown) {
      const error = toRelayerError(thrown)
      refusal = refusal?.retriable ? refusal : error
    }
  }
  throw refusal ?? new RelayerError('CALL_UNJUSTIFIED', { facts: { to, selector } })
}

function demandRead(settings: Settings): Settings {
  if (!isUnread(settings)) return settings
  throw new RelayerError('SETTINGS_UNREACHABLE', { detail: 'This process has not read the settings yet.' })
}

function fieldOf(chain: ChainName, lane: PolicyParts['lane'], what: Parameters<SigningPolicy['fieldOf']>[0]): string {
  const ofLane = `chains.${chain}.lanes[${lane.address}]`
  if (what === 'payees') return `chains.${chain}.treasury`
  if (what === 'topUps') return `chains.${chain}.signing.topUps`
  if (what === 'topUpLimits') return `chains.${chain}.topUp`
  if (what === 'calls') return `${ofLane}.allow or operatorCalls`
  return lane.signing?.[what] === undefined ? `chains.${chain}.signing.${what}` : `${ofLane}.signing.${what}`
}

/**
 * Opens a key. While the signing service is offline, each use tries to open the key again. Throws SIGNER_UNAVAILABLE.
 */
export async function openKey<Key>(open: () => Promise<Key>, logOffline: (problem: ReturnType<typeof problemOf>) => void) {
  const opened = keptRead(open, { lasting: () => true })
  await opened().catch((error: unknown) => {
    if (toRelayerError(error).code !== 'SIGNER_OFFLINE') throw error
    logOffline(problemOf(error))
  })
  return opened
}

export async function openSigner(address: string, open: () => Promise<Signer>, logger: Logger): Promise<Signer> {
  let signer: Signer | undefined
  const opened = await openKey(
    async () => (signer = await open()),
    (problem) => logger.warn('the signing service of the lane does not answer; each signature asks it again', { address, ...problem }),
  )
  return {
    address,
    sign: async (transaction) => (await opened()).sign(transaction),
    check: async (transaction) => (await opened()).check?.(transaction),
    spending: () => signer?.spending?.() ?? [],
  }
}
