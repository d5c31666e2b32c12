import type { CctpNetwork } from '../devnet/cctp/network.ts'
import type { Guardian } from '../devnet/wormhole/guardian.ts'
import type { GuardianKind, PlannedFault } from './plan.ts'

/**
 * Makes the spy or the guardians' API fail. In `guardian-5xx`, Circle's API fails too. In `guardian-429` it does not,
 * because Portage would then send no requests to Circle for 5 minutes.
 */
export async function breakGuardian(
  { spy, api }: Guardian,
  iris: CctpNetwork['iris'] | undefined,
  { kind, forMs, dice }: PlannedFault<GuardianKind>,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  switch (kind) {
    case 'spy-drop':
      // The spy replays nothing, so subscribers miss the messages that are published in the meantime.
      await spy.stop()
      await wait(forMs)
      return spy.start()
    case 'guardian-429':
      return troubled([api], { refuse: { status: 429, retryAfterSeconds: 1 + Math.floor(dice * 3) } }, forMs, wait)
    case 'guardian-5xx':
      return troubled([api, ...(iris ? [iris.api] : [])], { refuse: { status: dice < 0.5 ? 500 : 503 } }, forMs, wait)
  }
}

async function troubled(
  apis: readonly Guardian['api'][],
  trouble: Parameters<Guardian['api']['trouble']>[0],
  forMs: number,
  wait: (ms: number) => Promise<void>,
): Promise<void> {
  for (const api of apis) api.trouble(trouble)
  await wait(forMs)
  for (const api of apis) api.trouble()
}
