import { stalledAfter } from '../../operations/causes/explain-chains.ts'
import { pause } from '../../runtime/wait.ts'
import { triesUntilFailing } from '../../operations/causes/read.ts'
import type { FaultRule, NodeFault } from '../devnet/fault-proxy/rules.ts'
import { until } from '../devnet/until.ts'
import { oneIsStarted } from './processes.ts'
import { type ChainKey, reason, type StuckCase, type StuckScene } from './scene.ts'

function fault({ devnet }: StuckScene, chain: ChainKey, rule: FaultRule, ...indexes: readonly number[]): () => Promise<void> {
  const rules = indexes.map((index) => devnet.nodes[chain][index]?.add(rule))
  return async () => {
    for (const one of rules) one?.end()
  }
}

const cut: FaultRule = { fault: { kind: 'cut' } }

/** Makes all nodes fail gas estimates only. Sends a transfer, and resolves once a step has been tried three times. */
async function withoutEstimates(scene: StuckScene, broken: NodeFault) {
  const mend = fault(scene, 'bsc', { fault: broken, methods: ['eth_estimateGas'] }, 0, 1, 2)
  const id = await oneIsStarted(scene)
  const triesOf = async () => {
    const { raw } = await scene.client.workflow.getHandle(id).describe()
    return Math.max(0, ...(raw.pendingActivities ?? []).map(({ attempt }) => attempt ?? 0))
  }
  await until(async () => (await triesOf()) >= triesUntilFailing, { timeoutMs: 90_000, everyMs: 100, what: 'three tries of a step' })
  return { mend }
}

export const nodeCases: readonly StuckCase[] = [
  {
    ...{ name: 'node-down', fault: 'one of three nodes is dead', code: 'NODE_DOWN' },
    make: async (scene) => ({ where: 'bsc/node-3', mend: fault(scene, 'bsc', cut, 2) }),
  },
  {
    ...{ name: 'node-lags', fault: 'one of three nodes is 12 blocks behind', code: 'NODE_LAGS' },
    make: async (scene) => ({ where: 'ethereum/node-2', mend: fault(scene, 'ethereum', { fault: { kind: 'behind', blocks: 12 } }, 1) }),
  },
  {
    ...{ name: 'no-majority', fault: 'two of three nodes are dead', code: 'CHAIN_WITHOUT_MAJORITY' },
    make: async (scene) => ({ where: 'bsc', mend: fault(scene, 'bsc', cut, 1, 2) }),
  },
  {
    ...{ name: 'chain-unreachable', fault: 'all nodes of a chain are dead', code: 'CHAIN_UNREACHABLE' },
    make: async (scene) => ({ where: 'bsc', mend: fault(scene, 'bsc', cut, 0, 1, 2) }),
  },
  {
    ...{ name: 'node-refused', fault: 'all nodes give malformed gas estimates, and a transfer arrives', code: 'NODE_REFUSED' },
    make: (scene) => withoutEstimates(scene, { kind: 'answer', result: 7 }),
  },
  {
    ...{
      name: 'node-unavailable',
      fault: 'all nodes answer gas estimates with an HTML page, and a transfer arrives',
      code: 'NODE_UNAVAILABLE',
    },
    make: (scene) => withoutEstimates(scene, { kind: 'status', status: 502 }),
  },
  {
    ...{ name: 'node-disabled', fault: 'portage node disable, with a node that answers', code: 'NODE_DISABLED' },
    async make({ cli }) {
      const order = (verb: string) => cli('node', verb, 'bsc', 'node-3', ...reason)
      await order('disable')
      return { where: 'bsc/node-3', mend: () => order('enable') }
    },
  },
]

export const slowNodeCases: readonly StuckCase[] = [
  {
    ...{ name: 'chain-stalled', fault: 'a chain has produced no block for 30 s', code: 'CHAIN_STALLED' },
    async make({ devnet }) {
      const { anvil } = devnet.chains.bsc
      await anvil.rpc('evm_setIntervalMining', [0])
      const { timestamp } = await anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
      await pause(Math.max(0, Number(timestamp) * 1_000 + stalledAfter.leastMs - Date.now()))
      return { where: 'bsc', mend: () => anvil.rpc('evm_setIntervalMining', [anvil.blockTimeSeconds]) }
    },
  },
  {
    ...{
      name: 'finality-stalled',
      fault: 'no block has become final for longer than finality.stalledAfterMinutes',
      code: 'FINALITY_STALLED',
    },
    make: async (scene) => {
      const blocks = Math.ceil((2 * finalityStalledMinutes * 60) / scene.devnet.chains.bsc.anvil.blockTimeSeconds)
      return { where: 'bsc', mend: fault(scene, 'bsc', { fault: { kind: 'finality-behind', blocks } }, 0, 1, 2) }
    },
  },
]

/** Value of `chains.bsc.finality.stalledAfterMinutes` in the config. */
export const finalityStalledMinutes = 0.3
