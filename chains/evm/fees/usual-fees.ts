import { medianOf } from '../plausible.ts'

const gwei = 10n ** 9n

/** Blocks of the first history: as many as go-ethereum gives with rewards (eth/gasprice/feehistory.go, maxBlockFetchers and MaxBlockHistory). */
export const historyBlocks = 1_024
/** Then one block in so many ms counts: 1,024 of them are three hours. */
const sampleEveryMs = 10_000
const mostSamples = 1_024

/** The default cap per unit of gas: this much, and so many times what is usual. Base fees of Ethereum rose twentyfold within three hours a few times since EIP-1559. */
const absolute = 50n * gwei
const factor = 20n

/** What a unit of gas costs on this chain for hours, and the cap that follows from it. `now`: ms. No I/O. */
export function createUsualFees(now: () => number) {
  let samples: bigint[] = []
  let sampledAt = -Infinity
  return {
    get isSeeded() {
      return samples.length > 0
    },
    /** Base fees of many blocks, as the nodes remember them. */
    seed(baseFees: readonly bigint[]): void {
      samples = baseFees.slice(-mostSamples)
    },
    /** The base fee, or gas price, of the head. */
    note(wei: bigint): void {
      if (now() - sampledAt < sampleEveryMs) return
      sampledAt = now()
      samples = [...samples, wei].slice(-mostSamples)
    },
    /** Most that a unit of gas may cost where no policy says it, wei. */
    get cap(): bigint {
      return absolute + factor * (medianOf(samples) ?? 0n)
    },
  }
}
