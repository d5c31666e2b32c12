import { devnetGuardians } from '../devnet/chain/accounts.ts'
import { until } from '../devnet/until.ts'
import { upgradeGuardians } from '../devnet/wormhole/guardian-sets.ts'
import { sendCoin, type StuckCase } from './scene.ts'

export const wormholeCases: readonly StuckCase[] = [
  {
    ...{ name: 'spy-silent', fault: 'the spy is connected and does not send two signed messages', code: 'SPY_SILENT' },
    async make(scene) {
      await sendCoin(scene, 'bsc', 'mute')
      await sendCoin(scene, 'bsc', 'mute')
      const { spy } = scene.devnet.guardian
      const { subscribers } = spy
      return {
        where: spy.address,
        async mend() {
          await spy.stop()
          await spy.start()
          // The spy never sends messages that were published before a subscription.
          await until(() => spy.subscribers >= subscribers, { timeoutMs: 90_000, everyMs: 50, what: 'the subscriptions to the spy' })
        },
      }
    },
  },
  {
    ...{ name: 'gap-held', fault: "Wormhole's Governor holds a message", code: 'GAP_HELD' },
    async make(scene) {
      await sendCoin(scene, 'ethereum', 'hold')
      return { mend: async () => scene.devnet.guardian.release() }
    },
  },
]

/**
 * These cases come last, because faults may leave changes after their repair (skipped numbers, guardian sets, chain
 * clocks).
 */
export const lateWormholeCases: readonly StuckCase[] = [
  {
    ...{ name: 'spy-unavailable', fault: 'the spy is stopped', code: 'SPY_UNAVAILABLE' },
    async make({ devnet: { guardian } }) {
      await guardian.spy.stop()
      return { where: guardian.spy.address, mend: () => guardian.spy.start() }
    },
  },
  {
    ...{
      name: 'gap-not-queried',
      fault: 'the spy is stopped, the APIs of the guardians refuse requests, and a message is published',
      code: 'GAP_NOT_QUERIED',
    },
    async make(scene) {
      const { guardian } = scene.devnet
      const servers = [guardian.api, guardian.wormholescan]
      await guardian.spy.stop()
      for (const server of servers) server.trouble({ refuse: { status: 503 } })
      await sendCoin(scene, 'ethereum')
      return {
        async mend() {
          for (const server of servers) server.trouble()
          await guardian.spy.start()
        },
      }
    },
  },
  {
    ...{ name: 'gap-unobserved', fault: 'no guardian signs a message although its block is final', code: 'GAP_UNOBSERVED' },
    async make(scene) {
      const { emitter, sequence } = await sendCoin(scene, 'ethereum', 'miss')
      const stream = `wormhole-token-bridge:ethereum:${emitter}`
      return { where: stream, mend: () => scene.cli('stream', 'skip', stream, String(sequence), '--reason', 'a scenario') }
    },
  },
  {
    ...{
      name: 'guardian-set-unknown',
      fault: 'the guardians sign as a set that no chain knows, and a message is published',
      code: 'GUARDIAN_SET_UNKNOWN',
    },
    async make(scene) {
      const { guardian, chains } = scene.devnet
      guardian.renew(1)
      await sendCoin(scene, 'ethereum')
      return {
        async mend() {
          for (const chain of [chains.ethereum, chains.bsc]) await upgradeGuardians(chain, devnetGuardians(1), 1)
        },
      }
    },
  },
]
