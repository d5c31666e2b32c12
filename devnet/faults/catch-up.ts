import { isSettled, lookAtTransfers, type Seen } from '../demo/follow.ts'
import { keyOf } from '../sent.ts'
import { signedOf, type Scene } from './scene.ts'

/** A transfer whose workflow does not run is handed in again after so long: time for the spy to bring it. */
const missingForMs = 3000

/**
 * Hands in again what no workflow carries: what a dead process had not taken from the spy, and what was terminated. As whoever catches up, or the
 * audit, would; the door takes each message once.
 */
export class CatchUp {
  readonly #scene: Scene
  readonly #missingSince = new Map<string, number>()
  /** How often something was handed in. */
  submitted = 0

  constructor(scene: Scene) {
    this.#scene = scene
  }

  /** One look. Returns the transfers as Temporal shows them, newest run of each. */
  async look(): Promise<Map<string, Seen>> {
    const seen = new Map<string, Seen>()
    for (const one of await lookAtTransfers(this.#scene.client)) {
      const known = seen.get(one.key)
      if (!known || one.running || (!known.running && isDone(one))) seen.set(one.key, one)
    }
    for (const { sent, vaa } of signedOf(this.#scene)) {
      const key = keyOf(sent)
      const found = seen.get(key)
      if (found && (found.running || isDone(found))) {
        this.#missingSince.delete(key)
        continue
      }
      const since = this.#missingSince.get(key) ?? Date.now()
      this.#missingSince.set(key, since)
      if (Date.now() - since >= missingForMs) await this.#submit(vaa)
    }
    return seen
  }

  async #submit(vaa: Uint8Array): Promise<void> {
    const portage = this.#scene.fleet.alive[0]
    if (!portage) return
    this.submitted += 1
    // Refused or not answered (the process was just killed): the next look tries again.
    await fetch(`${portage.apiUrl}/v1/transfers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ vaa: Buffer.from(vaa).toString('base64') }),
      signal: AbortSignal.timeout(5000),
    }).catch(() => undefined)
  }
}

/** Closed with an outcome: what was terminated is not done, whatever it last showed. */
export function isDone(one: Seen): boolean {
  return !one.running && isSettled(one) && ['delivered', 'rejected', 'declined', 'cancelled'].includes(one.state)
}
