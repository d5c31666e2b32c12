import { type JsonRpcPayload, JsonRpcProvider, type JsonRpcResult } from 'ethers'

/**
 * Maximum number of concurrent requests, and of calls in a request. A node closes connections if it gets hundreds of
 * requests at a time.
 */
const [mostRequests, mostCalls] = [16, 50]

/** Batches simultaneous calls, so that a run of thousands of transfers needs few connections. */
class CheckerProvider extends JsonRpcProvider {
  private running = 0
  private readonly waiting: (() => void)[] = []

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    // A request that ends hands its slot to a waiting request, so `running` does not change here.
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

/** A provider without a cache. The caller must destroy the provider. */
export function provider(url: string): JsonRpcProvider {
  return new CheckerProvider(url, undefined, { staticNetwork: true, batchMaxCount: mostCalls, cacheTimeout: -1 })
}
