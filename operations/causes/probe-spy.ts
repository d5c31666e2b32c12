import { Client, credentials } from '@grpc/grpc-js'
import { spySources } from '../../bridges/registry.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { SpyHealth } from '../../intake/spy/spy.ts'
import { redactText } from '../../observability/redact.ts'
import type { SpyFacts } from './facts.ts'
import { limits } from './read.ts'

/** By subscription, else by a connection. Never throws. */
export function probeSpies(config: Pick<Config, 'chains' | 'bridges'>, own: (() => readonly SpyHealth[]) | undefined): Promise<SpyFacts[]> {
  const healths = own?.() ?? []
  return Promise.all(
    spySources(config).map(async ({ address, bridge }): Promise<SpyFacts> => {
      const health = healths.find((one) => one.address === address)
      if (!health) return { address, bridge, kept: 0, unknownSets: 0, ...(await reach(address)), asOf: Date.now() }
      const { connected, paused, problem, kept, unknownSets } = health
      const why = paused ? `it is not read: ${kept} of its messages wait` : connected ? undefined : (problem ?? 'not connected yet')
      return { address, bridge, kept, unknownSets, ...(why !== undefined && { problem: redactText(why) }), asOf: Date.now() }
    }),
  )
}

/** A subscription would use up a place at the spy. */
async function reach(address: string): Promise<Pick<SpyFacts, 'problem'>> {
  const client = new Client(address, credentials.createInsecure())
  try {
    await new Promise<void>((resolve, reject) => {
      client.waitForReady(Date.now() + limits.spyMs, (error) => (error ? reject(error) : resolve()))
    })
    return {}
  } catch {
    return { problem: 'it cannot be reached from here' }
  } finally {
    client.close()
  }
}
