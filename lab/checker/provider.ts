import { type JsonRpcPayload, JsonRpcProvider, type JsonRpcResult } from 'ethers'

/**
 * Most HTTP requests of one provider at a time, and most calls in each. A node closes connections when there are
 * hundreds.
 */
const [mostRequests, mostCalls] = [16, 50]

/** Calls of the same moment travel in batches, so that a run of thousands of transfers needs few connections. */
class CheckerProvider extends JsonRpcProvider {
  private running = 0
  private readonly waiting: (() => void)[] = []

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    // The one that ends hands its place over, so that the count stays.
    if (this.running >= mostRequests) await new Promise<void>((resolve) => this.waiting.push(resolve))
    else this.running++
    try {
      return await super._send(payload)
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.running--
    }
  }
}

/** @param url of a node of the devnet. It keeps no answers, and must be destroyed. */
export function provider(url: string): JsonRpcProvider {
  return new CheckerProvider(url, undefined, { staticNetwork: true, batchMaxCount: mostCalls, cacheTimeout: -1 })
}
