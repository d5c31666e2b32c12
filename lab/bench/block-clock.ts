import { WebSocketProvider } from 'ethers'

/** Times at which this machine saw a chain's blocks. */
export interface BlockClock {
  /** ms since the epoch. Undefined if the block was not seen. */
  at(height: number): number | undefined
  /** When the block became final, which is when it had `finalityLag` blocks above it. */
  finalAt(height: number): number | undefined
  stop(): Promise<void>
}

/** In an anvil with one slot in an epoch, `finalized` lags the head by this number of blocks. */
const finalityLag = 2

/**
 * Subscribes to a node's blocks.
 * @param url http URL of an anvil, which serves websockets on the same port
 */
export async function startBlockClock(url: string): Promise<BlockClock> {
  const provider = new WebSocketProvider(url.replace(/^http/, 'ws'))
  const came = new Map<number, number>()
  await provider.on('block', (height: number) => void (came.has(height) || came.set(height, Date.now())))
  return {
    at: (height) => came.get(height),
    finalAt: (height) => came.get(height + finalityLag),
    stop: () => provider.destroy(),
  }
}
