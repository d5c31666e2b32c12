import { laneId } from '../../domain/lane/lane.ts'
import { type ChainKey, reason, setTokens, type StuckCase, type StuckScene } from './scene.ts'

const keyOf = ({ devnet }: Pick<StuckScene, 'devnet'>, chain: ChainKey, index: number) => {
  const key = devnet.lanes.filter((lane) => lane.chain === chain)[index]
  if (!key) throw new Error(`${chain} has no lane ${index}`)
  return { address: key.address, lane: laneId('evm', devnet.chains[chain].anvil.chainId, key.address) }
}

function ordered(
  code: StuckCase['code'],
  [chain, index]: readonly [ChainKey, number],
  make: readonly string[],
  mend: readonly string[],
): StuckCase {
  const name = code.toLowerCase().replaceAll('_', '-')
  return {
    ...{ name, fault: `portage lane ${make.join(' ')}`, code },
    async make(scene) {
      const { lane } = keyOf(scene, chain, index)
      const order = ([verb = '', ...more]: readonly string[]) => scene.cli('lane', verb, lane, ...more, ...reason)
      await order(make)
      return { where: lane, mend: () => order(mend) }
    },
  }
}

export const laneCases: readonly StuckCase[] = [
  ordered('LANE_PAUSED', ['ethereum', 0], ['pause'], ['resume']),
  ordered('LANE_DRAINING', ['ethereum', 1], ['drain'], ['activate']),
  ordered('LANE_WINDOW_ZERO', ['bsc', 0], ['set-window', '0'], ['set-window', '64']),
  {
    ...{ name: 'lane-funds', fault: 'the account of a lane has no coins', code: 'LANE_FUNDS' },
    async make(scene) {
      const { address, lane } = keyOf(scene, 'bsc', 1)
      const { anvil } = scene.devnet.chains.bsc
      const before = await anvil.rpc<string>('eth_getBalance', [address, 'latest'])
      const set = (balance: string) => anvil.rpc('anvil_setBalance', [address, balance])
      await set('0x0')
      return { where: lane, mend: () => set(before) }
    },
  },
  {
    ...{ name: 'lane-token-low', fault: 'a lane has no balance of a watched token', code: 'LANE_TOKEN_LOW' },
    async make(scene) {
      const { address, lane } = keyOf(scene, 'bsc', 1)
      const { anvil, weth } = scene.devnet.chains.bsc
      await setTokens(anvil, weth, address, 0n)
      return { where: lane, mend: () => setTokens(anvil, weth, address, 1n) }
    },
  },
  ordered('LANE_FORBIDDEN', ['ethereum', 0], ['forbid'], ['activate']),
]
