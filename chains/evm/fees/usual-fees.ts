import { medianOf } from '../plausible.ts'

const gwei = 10n ** 9n

/** The largest history that go-ethereum returns with rewards (eth/gasprice/feehistory.go, MaxBlockHistory). */
export const historyBlocks = 1_024
/** Sampling interval after that, ms: 1,024 samples are three hours. */
const sampleEveryMs = 10_000
const mostSamples = 1_024

/**
 * The default cap per unit of gas is `absolute + factor × usual fee`. Since EIP-1559, Ethereum's base fee rose
 * twentyfold within three hours a few times.
 */
const absolute = 50n * gwei
const factor = 20n

/** The usual price of gas over hours, and the cap that follows from it. `now`: ms. No I/O. */
export function createUsualFees(now: () => number) {
  let samples: bigint[] = []
  let sampledAt = -Infinity
  return {
    get isSeeded() {
      return samples.length > 0
    },
    /** Base fees of many past blocks. */
    seed(baseFees: readonly bigint[]): void {
      samples = baseFees.slice(-mostSamples)
    },
    /** The base fee or gas price of the head. */
    note(wei: bigint): void {
      if (now() - sampledAt < sampleEveryMs) return
      sampledAt = now()
      samples = [...samples, wei].slice(-mostSamples)
    },
    /** Highest price of a unit of gas where no policy sets one, wei. */
    get cap(): bigint {
      return absolute + factor * (medianOf(samples) ?? 0n)
    },
  }
}
