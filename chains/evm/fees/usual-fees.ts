import { medianOf } from '../plausible.ts'

const gwei = 10n ** 9n

/** The largest history that go-ethereum returns with rewards (eth/gasprice/feehistory.go, MaxBlockHistory). */
export const historyBlocks = 1_024
/** Sampling interval after that, ms: 1,024 samples are three hours. */
const sampleEveryMs = 10_000
const mostSamples = 1_024

/** Cap per unit of gas: `absolute + factor × usual fee`. Ethereum's fee rose twentyfold in three hours a few times. */
const absolute = 50n * gwei
const factor = 20n

/** The usual price of gas over hours, and the cap that follows. `now`: ms. */
export function createUsualFees(now: () => number) {
  let samples: bigint[] = []
  let sampledAt = -Infinity
  return {
    get isSeeded() {
      return samples.length > 0
    },
    seed(baseFees: readonly bigint[]): void {
      samples = baseFees.slice(-mostSamples)
    },
    note(wei: bigint): void {
      if (now() - sampledAt < sampleEveryMs) return
      sampledAt = now()
      samples = [...samples, wei].slice(-mostSamples)
    },
    /** Wei per gas where no policy sets a cap. */
    get cap(): bigint {
      return absolute + factor * (medianOf(samples) ?? 0n)
    },
  }
}
