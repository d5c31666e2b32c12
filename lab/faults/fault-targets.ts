import type { Client } from '@temporalio/client'
import type { Devnet } from '../devnet/index.ts'
import type { AnySent } from '../devnet/sent.ts'
import type { Fleet } from './fleet.ts'
import type { Links } from './fleet-links.ts'
import type { FleetServer } from './fleet-server.ts'

export type ChainKey = 'ethereum' | 'bsc'

export interface FaultTargets {
  readonly devnet: Devnet
  readonly client: Client
  readonly fleet: Fleet
  /** Set only in a fleet run. `links`: proxies of each process, to the server and to the nodes, by process name. */
  readonly ground?: { readonly server: FleetServer; readonly links: ReadonlyMap<string, Links> } | undefined
  readonly sent: AnySent[]
  readonly locks: Readonly<Record<ChainKey | 'temporal', Lock>>
  say(line: string): void
  wait(ms: number): Promise<void>
}

export class Lock {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#last.then(act)
    this.#last = done.catch(() => undefined)
    return done
  }
}
