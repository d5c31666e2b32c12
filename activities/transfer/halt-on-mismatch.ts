import { RelayerError, toRelayerError, type ErrorCode } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { chainOf, endpointOf, type StepDeps } from '../deps.ts'
import { isDenied } from './delivery-checks.ts'

/**
 * Does the target's latest state show the effect? If it shows what no honest contract does (`haltRoute`), and the nodes agree, the route is halted and
 * the error is thrown, which parks the transfer. On the word of one node neither happens: throws NODES_DISAGREE, to be tried again.
 * @param disputed one node showed the effect before, and most did not: its word alone does not count any more
 */
export async function showsEffect(
  deps: Pick<StepDeps, 'bridges' | 'chains' | 'haltRoute'>,
  transfer: Transfer,
  disputed = false,
): Promise<boolean> {
  const endpoint = endpointOf(deps, transfer)
  try {
    const there = await endpoint.delivered(transfer, 'latest')
    return there && !(disputed && (await isDenied(chainOf(deps, transfer), endpoint, transfer)))
  } catch (error) {
    const { code, message, haltRoute } = toRelayerError(error)
    if (!haltRoute) throw error
    const agreed = await endpoint.delivered(transfer, 'agreed').then(
      () => false,
      (other: unknown) => {
        if (toRelayerError(other).code !== code) throw other
        return true
      },
    )
    if (!agreed) throw new RelayerError('NODES_DISAGREE', { detail: message, facts: { chain: transfer.targetChain } })
    await haltRouteOf(deps, transfer, code, message)
    throw error
  }
}

/** Halts the route of a transfer. Throws what orders of settings throw: nothing of the route may go on before the halt is in force. */
export async function haltRouteOf(
  { haltRoute }: Pick<StepDeps, 'haltRoute'>,
  { bridge, sourceChain, targetChain, sequence }: Transfer,
  code: ErrorCode,
  detail: string,
): Promise<void> {
  await haltRoute?.({ bridge, sourceChain, targetChain, code, detail: `transfer ${sequence}: ${detail}` })
}
