import { RelayerError, toRelayerError, type ErrorCode } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { StepDeps } from '../deps.ts'
import { chainOf, endpointOf } from '../deps.ts'
import { denied } from './effect.ts'

/**
 * Does the target's latest state show the effect? Where it shows what no honest contract does, and the nodes agree, the route is halted, and the
 * error thrown that says so, which parks the transfer. On one node's word neither happens: throws NODES_DISAGREE, to be tried again.
 * @param disputed one node showed it before, and most of them did not: its word alone says nothing any more
 */
export async function shows(
  deps: Pick<StepDeps, 'bridges' | 'chains' | 'haltRoute'>,
  transfer: Transfer,
  disputed = false,
): Promise<boolean> {
  const endpoint = endpointOf(deps, transfer)
  try {
    const there = await endpoint.delivered(transfer, 'latest')
    return there && !(disputed && (await denied(chainOf(deps, transfer), endpoint, transfer)))
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
    await haltFor(deps, transfer, code, message)
    throw error
  }
}

/** Throws what orders of settings throw: nothing of the route may go on before the halt is in force. */
export async function haltFor(
  { haltRoute }: Pick<StepDeps, 'haltRoute'>,
  { bridge, sourceChain, targetChain, sequence }: Transfer,
  code: ErrorCode,
  detail: string,
): Promise<void> {
  await haltRoute?.({ bridge, sourceChain, targetChain, code, detail: `transfer ${sequence}: ${detail}` })
}
