import { get } from 'node:http'
import type { PortageProcess } from '../devnet/portage-process.ts'
import { type AttackScene, withApi } from './scene.ts'

/** Maximum duration of a request, ms. A slower request counts as shut out. */
const answeredWithinMs = 10_000
const everyMs = 500

/**
 * Sends a request to each process every 500 ms, from an address that no attacker uses. Records requests without an
 * answer.
 */
export function watchApi(scene: AttackScene): { stop(): Promise<void> } {
  let stopped = false
  const watch = async () => {
    while (!stopped) {
      await Promise.all(withApi(scene).map((one) => askHonestly(scene, one)))
      await scene.wait(everyMs)
    }
  }
  const watching = watch()
  return {
    async stop() {
      stopped = true
      await watching
    },
  }
}

async function askHonestly(scene: AttackScene, one: PortageProcess): Promise<void> {
  try {
    await ask(one)
  } catch (error) {
    if (one.ended === undefined) scene.shutOut.push(`${one.apiUrl} did not answer: ${String(error)}`)
  }
}

/** Requests a path that does not need Temporal, over a new connection, because the API may close idle ones. */
function ask({ apiUrl, admin }: PortageProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { agent: false, headers: admin, signal: AbortSignal.timeout(answeredWithinMs) } as const
    get(new URL('/v1/openapi.json', apiUrl), options, (answer) => answer.resume().on('end', resolve).on('error', reject)).on(
      'error',
      reject,
    )
  })
}
