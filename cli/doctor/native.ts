import { createInboundLimits } from '../../bridges/native-bridge/inbound-limits.ts'
import { highestNonce } from '../../bridges/native-bridge/streams.ts'
import { chainOf } from '../../config/chains.ts'
import type { NativeBridgeConfig } from '../../config/schema/bridge-schema.ts'
import type { Config } from '../../config/schema/schema.ts'
import { type ConfiguredChain as Reader, createConfiguredChain } from '../../chains/registry.ts'
import { type Check, checkTimeoutMs, fail, type Finding, look, warn } from './check.ts'

type Route = NativeBridgeConfig['routes'][number]

/** Each direction: both contracts, pause and budget of the target, and the role of the lanes. */
export async function checkNativeRoutes(config: Config): Promise<Check[]> {
  const routes = config.bridges['native-bridge']?.routes ?? []
  const names = new Set(routes.flatMap(({ source, target }) => [source, target]))
  const options = { timeoutMs: checkTimeoutMs / 2 }
  const readers = new Map([...names].map((name) => [name, createConfiguredChain(name, chainOf(config, name), options)]))
  const checkRoute = (route: Route): Promise<Check[]> => {
    const { source, target } = route
    const check = (name: string, reader: Reader, ask: () => Promise<Finding>) =>
      look(`route ${source} → ${target}`, name, () => reader.connect().then(ask))
    const [from, to] = [readers.get(source)!, readers.get(target)!]
    return Promise.all([
      check('source contract', from, () => checkSource(from, route)),
      check('target contract', to, () => checkTarget(to, route)),
      ...chainOf(config, target).lanes.map(({ address }) => check(`role of ${address}`, to, () => checkRole(to, route, address))),
    ])
  }
  try {
    return (await Promise.all(routes.map(checkRoute))).flat()
  } finally {
    for (const reader of readers.values()) reader.close()
  }
}

async function checkSource(reader: Reader, { sourceContract }: Route): Promise<Finding> {
  if (!(await reader.hasCode(sourceContract))) return noCode(sourceContract, 'sourceContract')
  const highest = await highestNonce(reader, sourceContract, { at: 'latest' })
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

function noCode(contract: string, field: 'sourceContract' | 'targetContract'): Finding {
  return fail(`${contract} has no code on this network`, `Correct ${field} of this route.`)
}
