import type { FuzzTarget } from './fuzz.ts'
import { decodeVaa, goodPlace, goodVaa } from './good-vaa.ts'
import { startHttpTarget } from './hostile-http.ts'
import { startSpyTarget } from './hostile-spy.ts'

/** Readers behind a real connection, with the servers of an attacker at its other end. */
export async function startNetworkTargets(): Promise<{ targets: readonly FuzzTarget[]; stop: () => Promise<void> }> {
  const started = [await startHttpTarget(goodPlace, goodVaa), await startSpyTarget(goodVaa, decodeVaa)]
  return {
    targets: started.map(({ target }) => target),
    stop: async () => void (await Promise.all(started.map(({ stop }) => stop()))),
  }
}

/** Their names, for the help. */
export const networkTargets = ['guardian-api', 'spy-stream']
