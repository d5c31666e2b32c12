import { stalledAfter } from '../../operations/causes/explain-chains.ts'
import { pause } from '../../runtime/wait.ts'
import type { FaultRule } from '../devnet/fault-proxy/rules.ts'
import type { ChainKey, StuckCase, StuckScene } from './scene.ts'

/** The nodes of a chain with these indexes do this. Returns what ends it. */
function fault({ devnet }: StuckScene, chain: ChainKey, rule: FaultRule, ...indexes: readonly number[]): () => Promise<void> {
  const rules = indexes.map((index) => devnet.nodes[chain][index]?.add(rule))
  return async () => {
    for (const one of rules) one?.end()
  }
}

const cut: FaultRule = { fault: { kind: 'cut' } }

/** Of three nodes for each chain. */
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
]

/** Those that only time shows. */
export const slowNodeCases: readonly StuckCase[] = [
  {
    ...{ name: 'chain-stalled', fault: 'a chain has made no block for 30 s', code: 'CHAIN_STALLED' },
    async make({ devnet }) {
      const { anvil } = devnet.chains.bsc
      await anvil.rpc('evm_setIntervalMining', [0])
      const { timestamp } = await anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
      await pause(Math.max(0, Number(timestamp) * 1_000 + stalledAfter.leastMs - Date.now()))
      return { where: 'bsc', mend: () => anvil.rpc('evm_setIntervalMining', [anvil.blockTimeSeconds]) }
    },
  },
  {
    ...{ name: 'finality-stalled', fault: 'no block becomes final for longer than finality.stalledAfterMinutes', code: 'FINALITY_STALLED' },
    make: async (scene) => {
      const blocks = Math.ceil((2 * finalityStalledMinutes * 60) / scene.devnet.chains.bsc.anvil.blockTimeSeconds)
      return { where: 'bsc', mend: fault(scene, 'bsc', { fault: { kind: 'finality-behind', blocks } }, 0, 1, 2) }
    },
  },
]

/** `chains.bsc.finality.stalledAfterMinutes` of the network. */
export const finalityStalledMinutes = 0.3
