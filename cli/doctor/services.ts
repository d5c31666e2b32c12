import { Client, credentials } from '@grpc/grpc-js'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { redactUrl } from '../../observability/redact.ts'
import { type Check, checkTimeoutMs, fail, type Finding, look, warn } from './check.ts'

export async function checkServices({ bridges, chains }: Config): Promise<Check[]> {
  const wormhole = bridges['wormhole-token-bridge']
  if (!wormhole) return []
  const area = 'bridge wormhole-token-bridge'
  const { spy, guardianApis, wormholescanApis } = wormhole
  return Promise.all([
    ...Object.keys(chains).map((chain) => look(area, `fees of ${chain}`, () => Promise.resolve(feesFinding(chain, wormhole)))),
    ...(spy ? [look(area, `spy ${spy.address}`, () => reachSpy(spy.address))] : []),
    ...guardianApis.map((url) => look(area, `guardian API ${redactUrl(url)}`, () => reachApi(url, 'v1/signed_vaa', 'guardianApis'))),
    ...wormholescanApis.map((url) => look(area, `Wormholescan ${redactUrl(url)}`, () => reachApi(url, 'api/v1/vaas', 'wormholescanApis'))),
  ])
}

/** Without both, every transfer is declined (FEE_NOT_CONFIGURED). */
function feesFinding(
  chain: string,
  { minimumFees, freeRoutes }: Pick<NonNullable<Config['bridges']['wormhole-token-bridge']>, 'minimumFees' | 'freeRoutes'>,
): Finding {
  const tokens = Object.keys(minimumFees[chain] ?? {}).length
  const isFree = freeRoutes.some(({ target }) => target === chain)
  if (tokens > 0 || isFree) return `of ${tokens} tokens${isFree ? '; routes to it are free' : ''}`
  const remedy = `Name tokens in minimumFees.${chain} of the bridge, or the chain in its freeRoutes; no action if nothing is to be delivered there.`
  return warn('no token has a fee, and no route there is free: nothing is delivered there', remedy)
}

/** Only opens a connection: a subscription would occupy a place at the spy. */
async function reachSpy(address: string): Promise<string> {
  const client = new Client(address, credentials.createInsecure())
  try {
    await new Promise<void>((resolve, reject) => {
      client.waitForReady(Date.now() + checkTimeoutMs / 2, (error) => (error ? reject(error) : resolve()))
    })
    return 'reachable'
  } catch (cause) {
    throw new RelayerError('SPY_UNAVAILABLE', { facts: { address }, cause })
  } finally {
    client.close()
  }
}

/** A message that cannot exist: any answer below 500 is good. */
async function reachApi(url: string, route: string, field: string): Promise<Finding> {
  const base = url.replace(/\/+$/, '')
  const remedy = `Check the URL in ${field}, and that it can be reached from here.`
  try {
    const answer = await fetch(`${base}/${route}/1/${'0'.repeat(64)}/0`, { signal: AbortSignal.timeout(checkTimeoutMs / 2) })
    await answer.body?.cancel()
    return answer.status < 500 ? 'reachable' : fail(`answers ${answer.status}`, remedy)
  } catch {
    return fail('does not answer', remedy)
  }
}
