import { type JsonRpcPayload, JsonRpcProvider, type JsonRpcResult } from 'ethers'

/**
 * Most HTTP requests of one provider at the same time, and most calls in one request. With hundreds, a node closes
 * connections.
 */
const [mostRequests, mostCalls] = [16, 50]

/**
 * A provider that sends simultaneous calls in shared requests, so that a run of thousands of transfers needs few
 * connections.
 */
class CheckerProvider extends JsonRpcProvider {
  private running = 0
  private readonly waiting: (() => void)[] = []

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    // A request that ends passes its slot to the next one, so the count does not change.
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

/**
 * Makes a provider that caches nothing. Destroy it at the end.
 * @param url of a node of the devnet
 */
export function provider(url: string): JsonRpcProvider {
  return new CheckerProvider(url, undefined, { staticNetwork: true, batchMaxCount: mostCalls, cacheTimeout: -1 })
}
