import { until } from '../devnet/until.ts'
import { sendCoin, type StuckCase, type StuckScene } from './scene.ts'

/** Sends coins to bsc. Resolves with the transfer's workflow id once the workflow runs. */
export async function oneIsStarted(scene: StuckScene): Promise<string> {
  const { emitterChain, emitter, sequence } = await sendCoin(scene, 'ethereum')
  const { digest } = await scene.devnet.guardian.waitFor(emitterChain, emitter, sequence)
  const id = ['wormhole-token-bridge', emitterChain, emitter, sequence, digest.slice(2, 18)].join(':')
  await until(async () => (await scene.client.workflow.getHandle(id).describe()).status.name === 'RUNNING', {
    ...{ timeoutMs: 90_000, everyMs: 100, what: 'a transfer to be started' },
  })
  return id
}

export const processCases: readonly StuckCase[] = [
  {
    ...{
      name: 'lane-without-worker',
      fault: 'the processes with the keys of a chain are killed, and a transfer arrives',
      code: 'LANE_WITHOUT_WORKER',
    },
    async make(scene) {
      const again = await scene.kill('lane', 'bsc')
      await oneIsStarted(scene)
      return { mend: again }
    },
  },
  {
    ...{
      name: 'chain-without-worker',
      fault: 'the process that serves a chain is killed, and a transfer arrives',
      code: 'CHAIN_WITHOUT_WORKER',
    },
    async make(scene) {
      const again = await scene.kill('chain', 'bsc')
      await oneIsStarted(scene)
      return { where: 'chain:bsc', mend: again }
    },
  },
  {
    ...{ name: 'ledger-without-worker', fault: 'the only process with the role ledger is killed', code: 'LEDGER_WITHOUT_WORKER' },
    make: async (scene) => ({ where: 'ledger', mend: await scene.kill('ledger', 'bsc') }),
  },
  {
    ...{ name: 'temporal-away', fault: 'Temporal does not answer', code: 'TEMPORAL_UNAVAILABLE' },
    async make({ devnet: { temporal } }) {
      await temporal.kill('SIGSTOP')
      return { where: 'temporal', mend: () => temporal.kill('SIGCONT') }
    },
  },
]
