import type { Devnet } from '../devnet/index.ts'
import { until } from '../devnet/until.ts'
import { toUniversal } from '../devnet/wormhole/vaa.ts'
import type { SentTransfer } from '../devnet/wormhole/users.ts'

/**
 * Makes the Governor hold the messages of ethereum's token bridge until `guardian.release`, so that all messages reach
 * a relayer at the same time. The returned function resolves once the messages of the given transfers are held.
 */
export function holdMessages({ chains, guardian }: Devnet): (sent: readonly SentTransfer[]) => Promise<unknown> {
  const held = new Set<string>()
  const { firstSequence, tokenBridge } = chains.ethereum
  guardian.treat(({ emitter, sequence }) => {
    // Messages of the deployment that the guardians observe late are signed immediately.
    if (emitter !== toUniversal(tokenBridge) || sequence < firstSequence) return 'sign'
    held.add(`${emitter}/${sequence}`)
    return 'hold'
  })
  return (sent) => {
    const isHeld = () => sent.every(({ emitter, sequence }) => held.has(`${emitter}/${sequence}`))
    return until(isHeld, { timeoutMs: 120_000, everyMs: 200, what: 'the guardians to hold all' })
  }
}
