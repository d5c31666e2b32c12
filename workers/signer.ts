import type { Endpoint } from '../bridges/port.ts'
import type { Signer, SigningPolicy } from '../chains/port.ts'
import type { ChainConfig, LaneSettings } from '../config/schema.ts'
import { toRelayerError } from '../domain/errors.ts'
import type { Logger } from '../observability/logger.ts'

/**
 * What the key of a lane may sign: the calls that its config allows, or else those of all bridges on this chain; coins to the treasury and to the chain's
 * other lanes (top-ups); and the treasury's tokens to the treasury.
 */
export function signingPolicy(
  { lanes, treasury }: Pick<ChainConfig, 'lanes' | 'treasury'>,
  { address, allow }: Pick<LaneSettings, 'address' | 'allow'>,
  bridges: readonly Pick<Endpoint, 'calls'>[],
): SigningPolicy {
  const calls: Record<string, string[]> = {}
  for (const [contract, selectors] of bridges.flatMap((bridge) => Object.entries(bridge.calls))) (calls[contract] ??= []).push(...selectors)
  const payees = treasury ? [treasury.address] : []
  const others = lanes.map((lane) => lane.address).filter((other) => other !== address)
  return {
    calls: allow ?? calls,
    coinPayees: [...payees, ...others],
    tokens: treasury?.tokens ?? [],
    tokenPayees: payees,
  }
}

/**
 * Opens the key of a lane. If a signing service does not answer, the process starts without it, since it may have other lanes: the service is asked again
 * with every signature. Throws SIGNER_UNAVAILABLE for errors that do not end by themselves.
 */
export async function openSigner(address: string, open: () => Promise<Signer>, logger: Logger): Promise<Signer> {
  try {
    return await open()
  } catch (error) {
    const { code, message } = toRelayerError(error)
    if (code !== 'SIGNER_OFFLINE') throw error
    logger.warn('the signing service of the lane does not answer; it is asked again with every signature', { reason: message })
  }
  let opened: Promise<Signer> | undefined
  return {
    address,
    async sign(transaction) {
      opened ??= open()
      const signer = await opened.catch((error: unknown) => {
        opened = undefined
        throw error
      })
      return signer.sign(transaction)
    },
  }
}
