import { id as keccakText } from 'ethers'
import { Script } from '../devnet/chain/contracts.ts'
import { nativeBridgeAbi } from '../devnet/native/native-bridge.ts'
import type { StuckCase, StuckScene } from './scene.ts'

/** Amount above the daily inbound limit, in units of 8 decimals. */
const aboveCap = 3n * 10n ** 16n

function native({ devnet }: StuckScene) {
  if (!devnet.native) throw new Error('the network has no native bridge')
  return devnet.native
}

async function owner(scene: StuckScene, ...calls: readonly (readonly [method: string, ...args: unknown[]])[]): Promise<void> {
  const { bridge, deployer } = native(scene).ends.bsc
  const script = await Script.of(scene.devnet.chains.bsc.anvil, deployer)
  const abi = await nativeBridgeAbi('fixed')
  for (const [method, ...args] of calls) script.call(bridge, abi, method, args)
  await script.mine()
}

const send = (scene: StuckScene, amount: bigint) => native(scene).users.ethereum.send([{ amount }])

export const nativeCases: readonly StuckCase[] = [
  {
    ...{ name: 'bridge-paused', fault: 'the owner has paused the native bridge, and a transfer arrives', code: 'BRIDGE_PAUSED' },
    async make(scene) {
      await owner(scene, ['togglePause'])
      await send(scene, 1_000n)
      return { where: 'native-bridge:ethereum:bsc', mend: () => owner(scene, ['togglePause']) }
    },
  },
  {
    ...{ name: 'bridge-role-missing', fault: 'no key has the relayer role, and a transfer arrives', code: 'BRIDGE_ROLE_MISSING' },
    async make(scene) {
      const role = keccakText('RELAYER_ROLE')
      const keys = scene.devnet.lanes.filter(({ chain }) => chain === 'bsc').map(({ address }) => address)
      await owner(scene, ...keys.map((key) => ['revokeRole', role, key] as const))
      await send(scene, 1_000n)
      return { mend: () => owner(scene, ...keys.map((key) => ['grantRole', role, key] as const)) }
    },
  },
  {
    ...{ name: 'bridge-cap', fault: 'a transfer above the daily inbound limit arrives, and is parked', code: 'BRIDGE_CAP' },
    async make(scene) {
      const [sent] = await send(scene, aboveCap)
      const cancel = () => scene.cli('transfer', 'cancel', sent?.txHash ?? '', '--reason', 'a scenario')
      return { where: 'parked', mend: cancel }
    },
  },
]
