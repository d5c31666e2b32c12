import { changeSettings } from '../../temporal/client/settings/settings.ts'
import { freshAddress } from '../devnet/chain/accounts.ts'
import { reason, sendCoin, type StuckCase } from './scene.ts'

/**
 * Cases in which an operator's order holds up work. Such orders are causes, because other operators may not know about
 * them.
 */
export const orderCases: readonly StuckCase[] = [
  {
    ...{ name: 'halted', fault: 'portage halt --bridge wormhole-token-bridge --source ethereum', code: 'HALTED' },
    async make({ cli }) {
      const scope = ['--bridge', 'wormhole-token-bridge', '--source', 'ethereum']
      await cli('halt', ...scope, ...reason)
      return { where: scope.join(' '), mend: () => cli('unhalt', ...scope, ...reason) }
    },
  },
  {
    ...{ name: 'fee-ceiling', fault: 'the base fee exceeds --base-fee-ceiling, and a transfer arrives', code: 'FEE_CEILING' },
    async make(scene) {
      const scope = ['--scope', 'chain:ethereum'] as const
      await scene.cli('fees', 'set', ...scope, '--base-fee-ceiling', '1wei', ...reason)
      await sendCoin(scene, 'bsc')
      return { mend: () => scene.cli('fees', 'clear', ...scope, ...reason) }
    },
  },
  {
    ...{ name: 'denied', fault: 'portage deny recipient, and a transfer to this recipient arrives', code: 'DENIED' },
    async make(scene) {
      const party = freshAddress()
      await scene.cli('deny', 'recipient', party, ...reason)
      await sendCoin(scene, 'bsc', 'sign', party)
      return { where: 'deny recipient', mend: () => scene.cli('allow', 'recipient', party, ...reason) }
    },
  },
  {
    ...{ name: 'order-name-unknown', fault: 'a fee limit of a chain that the config does not have', code: 'ORDER_NAME_UNKNOWN' },
    async make({ client, cli }) {
      const scope = { kind: 'chain', chain: 'former' } as const
      // The config had this chain when the order was given.
      const known = { bridges: [], lanes: [], nodes: { former: [] } }
      const orders = [{ kind: 'setFees', scope, policy: { maxTip: '1' } } as const]
      await changeSettings(client, known, { by: 'night-shift', reason: 'a scenario', orders })
      return { where: 'names', mend: () => cli('fees', 'clear', '--scope', 'chain:former', ...reason) }
    },
  },
  {
    ...{ name: 'stream-paused', fault: 'portage stream pause', code: 'STREAM_PAUSED' },
    async make({ cli, devnet }) {
      const { tokenBridge } = devnet.chains.ethereum
      const stream = `wormhole-token-bridge:ethereum:${tokenBridge.slice(2).toLowerCase().padStart(64, '0')}`
      await cli('stream', 'pause', stream, ...reason)
      return { where: stream, mend: () => cli('stream', 'resume', stream, ...reason) }
    },
  },
  {
    ...{ name: 'node-wrong-network', fault: 'portage node add, with a node of another chain', code: 'NODE_WRONG_NETWORK' },
    async make({ cli, devnet }) {
      await cli('node', 'add', 'bsc', 'wrong', devnet.chains.ethereum.anvil.url, ...reason)
      return { where: 'bsc/wrong', mend: () => cli('node', 'remove', 'bsc', 'wrong', ...reason) }
    },
  },
]
