import { WebSocketProvider } from 'ethers'

/** Times at which this process saw a chain's blocks, ms since the epoch. */
export interface BlockClock {
  /** Undefined if the block was not seen. */
  at(height: number): number | undefined
  /** Time at which the block that made this height final was seen. Undefined if that block was not seen. */
  finalAt(height: number): number | undefined
  stop(): Promise<void>
}

/** `finalized` is this number of blocks below the head of an anvil with one slot per epoch. */
const finalityLag = 2

/** @param url http URL of an anvil, which serves websockets on the same port */
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
