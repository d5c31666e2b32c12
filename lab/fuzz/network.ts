import type { FuzzTarget } from './fuzz.ts'
import { decodeVaa, goodPlace, goodVaa } from './good-vaa.ts'
import { startHttpTarget } from './hostile-http.ts'
import { startIrisTarget, startNodeTarget, startSignerTarget } from './hostile-services.ts'
import { startSpyTarget } from './hostile-spy.ts'

export async function startNetworkTargets(): Promise<{ targets: readonly FuzzTarget[]; stop: () => Promise<void> }> {
  const started = [
    await startHttpTarget(goodPlace, goodVaa),
    await startSpyTarget(goodVaa, decodeVaa),
    await startNodeTarget(),
    await startSignerTarget(),
    await startIrisTarget(),
  ]
  return {
    targets: started.map(({ target }) => target),
    stop: async () => void (await Promise.all(started.map(({ stop }) => stop()))),
  }
}

/** Names of the network targets for --help, which starts no servers. */
export const networkTargets = ['guardian-api', 'spy-stream', 'node-http', 'remote-signer', 'attestation-api']
