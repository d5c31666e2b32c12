import { type JsonRpcPayload, JsonRpcProvider, type JsonRpcResult } from 'ethers'

/**
 * Most HTTP requests of one provider at a time, and most calls in each. A node closes connections when there are
 * hundreds.
 */
const [mostRequests, mostCalls] = [16, 50]

/** Simultaneous calls share requests, so that a run of thousands of transfers needs few connections. */
class CheckerProvider extends JsonRpcProvider {
  private running = 0
  private readonly waiting: (() => void)[] = []

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    // An ending request passes its slot to the next one, so the count stays.
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

/** @param url of a node of the devnet. The provider caches nothing, and must be destroyed. */
export function provider(url: string): JsonRpcProvider {
  return new CheckerProvider(url, undefined, { staticNetwork: true, batchMaxCount: mostCalls, cacheTimeout: -1 })
}
