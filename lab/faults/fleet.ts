import type { Devnet } from '../devnet/index.ts'
import { startPortage, type PortageProcess } from '../devnet/portage-process.ts'

/** Several `portage run --role all`, each of which may be killed and is started again, as a supervisor would. */
export interface Fleet {
  /** The processes that are up and awake. */
  readonly alive: readonly PortageProcess[]
  /** How often one had ended by itself, and was started again. */
  readonly restarts: number
  /** kill -9 of one that is up; it comes back after `forMs`. False if none is up. */
  kill(dice: number, forMs: number): Promise<boolean>
  /** Stops one for a while (SIGSTOP): it wakes up after others have taken its work over. False if none is up. */
  freeze(dice: number, forMs: number): Promise<boolean>
  /** Resolves when all are up. Throws if one does not come up in several tries. */
  whole(): Promise<void>
  stop(): Promise<void>
}

/** With its nodes or Temporal away a process may end at its start: a supervisor tries again, and waits a little before. */
const tries = 20
const betweenTriesMs = 1000

export async function startFleet(devnet: Devnet, size: number, wait: (ms: number) => Promise<void>): Promise<Fleet> {
  const places: (PortageProcess | undefined)[] = Array.from({ length: size }, () => undefined)
  const returning = new Set<Promise<void>>()
  const frozen = new Set<PortageProcess>()
  let stopping = false
  let restarts = 0

  async function start(place: number): Promise<void> {
    for (let attempt = 1; !stopping; attempt++) {
      try {
        const started = await startPortage(devnet, { name: `portage-${place + 1}` })
        places[place] = started
        void started.exited.then(() => {
          // Not if it was killed: then its place is empty, and whoever killed it brings it back.
          if (stopping || places[place] !== started) return
          restarts += 1
          bringBack(place, betweenTriesMs)
        })
        return
      } catch (error) {
        if (attempt === tries) throw error
        await wait(betweenTriesMs)
      }
    }
  }

  function bringBack(place: number, afterMs: number): void {
    places[place] = undefined
    const back = wait(afterMs).then(() => start(place))
    returning.add(back)
    // Kept until `whole` has heard how it ended.
    void back.then(
      () => returning.delete(back),
      () => {},
    )
  }

  await Promise.all(places.map((_, place) => start(place)))
  return {
    get alive() {
      return places.flatMap((one) => (one && one.ended === undefined && !frozen.has(one) ? [one] : []))
    },
    get restarts() {
      return restarts
    },
    async kill(dice, forMs) {
      const up = places.flatMap((one, place) => (one && one.ended === undefined ? [place] : []))
      const place = up[Math.floor(dice * up.length)]
      const victim = place === undefined ? undefined : places[place]
      if (place === undefined || !victim) return false
      places[place] = undefined
      victim.kill('SIGKILL')
      await victim.exited
      bringBack(place, forMs)
      return true
    },
    async freeze(dice, forMs) {
      const up = places.flatMap((one) => (one && one.ended === undefined ? [one] : []))
      const victim = up[Math.floor(dice * up.length)]
      if (!victim) return false
      frozen.add(victim)
      victim.kill('SIGSTOP')
      await wait(forMs)
      frozen.delete(victim)
      victim.kill('SIGCONT')
      return true
    },
    async whole() {
      // What ends while others return comes back, too.
      while (returning.size > 0) await Promise.all(returning)
    },
    async stop() {
      stopping = true
      await Promise.allSettled(returning)
      await Promise.all(places.map(async (one) => one?.stop(15_000)))
    },
  }
}
