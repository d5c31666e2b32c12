import type { Client } from '@temporalio/client'
import type { Devnet } from '../devnet/index.ts'
import type { AnySent } from '../devnet/sent.ts'
import type { Fleet } from './fleet.ts'

export type ChainKey = 'ethereum' | 'bsc'

/** What a fault run works on. */
export interface Scene {
  readonly devnet: Devnet
  readonly client: Client
  readonly fleet: Fleet
  /** Every transfer so far. */
  readonly sent: AnySent[]
  readonly locks: Readonly<Record<ChainKey | 'temporal', Lock>>
  say(line: string): void
  wait(ms: number): Promise<void>
}

/** One at a time. */
export class Lock {
  #line: Promise<unknown> = Promise.resolve()

  run<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#line.then(act)
    this.#line = done.catch(() => undefined)
    return done
  }
}
