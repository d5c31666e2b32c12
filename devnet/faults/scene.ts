import type { Client } from '@temporalio/client'
import { transferId } from '../../temporal/names.ts'
import type { Devnet } from '../index.ts'
import { byBridge, type AnySent } from '../sent.ts'
import type { SentTransfer } from '../users.ts'
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

/** A transfer that the guardian has signed: the id of its workflow and its VAA. */
export interface Signed {
  readonly sent: SentTransfer
  readonly id: string
  readonly vaa: Uint8Array
}

/** Those of the sent Wormhole transfers that are signed so far. */
export function signedOf({ devnet, sent }: Pick<Scene, 'devnet' | 'sent'>): Signed[] {
  const [wormhole] = byBridge(sent)
  return wormhole.flatMap((one) => {
    const found = devnet.guardian.find(one.emitterChain, one.emitter, one.sequence)
    if (!found) return []
    const { source: sourceChain, emitter, sequence } = one
    const id = transferId({ bridge: 'wormhole-token-bridge', sourceChain, emitter, sequence: String(sequence), digest: found.digest })
    return [{ sent: one, id, vaa: found.bytes }]
  })
}
