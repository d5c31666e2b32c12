import { rename, rm, writeFile } from 'node:fs/promises'
import { Interface } from 'ethers'
import { Script } from '../devnet/chain/contracts.ts'
import { compiledArtifact } from '../devnet/chain/solidity.ts'
import type { Devnet } from '../devnet/index.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'
import { writeReceiverPlugin } from '../devnet/wormhole/receiver-plugin.ts'
import { toUniversal } from '../devnet/wormhole/vaa.ts'
import { published } from '../devnet/wormhole/wormhole.ts'
import type { StuckCase, StuckPlugins, StuckScene } from './scene.ts'

const coreAbi = new Interface(['function publishMessage(uint32 nonce, bytes payload, uint8 consistencyLevel) payable returns (uint64)'])
const bytes = { invalid: '01', changed: '02', failing: '03' } as const
type Name = keyof typeof bytes

/** Makes three plug-ins for messages from ethereum to a contract on bsc. Each fails while its `.flag` file exists. */
export async function makePlugins({
  dir,
  chains,
  outsiders,
}: Devnet): Promise<StuckPlugins & { readonly config: ConfigInput['bridges']['plugins'] }> {
  const { ethereum, bsc } = chains
  const emitter = toUniversal(outsiders.ethereum.address)
  const script = await Script.of(bsc.anvil, outsiders.bsc)
  const args = [bsc.core, ethereum.wormholeChainId, `0x${emitter}`]
  const contract = script.deploy('MessageReceiver', args, await compiledArtifact('MessageReceiver'))
  await script.mine()
  const plugin = { source: 'ethereum', emitter, target: 'bsc', contract }
  const written = Object.entries(bytes).map(
    async ([name, byte]) => [name, await writeReceiverPlugin(dir, { ...plugin, name, byte })] as const,
  )
  const made = new Map(await Promise.all(written))
  const config = Object.fromEntries([...made].map(([name, one]) => [name, one.config]))
  return { config, moduleOf: (name) => made.get(name)?.config.module ?? '', textOf: (name) => made.get(name)?.text ?? '' }
}

async function publish({ devnet: { chains, guardian, outsiders } }: StuckScene, name: Name): Promise<void> {
  const { anvil, core, wormholeChainId } = chains.ethereum
  const script = await Script.of(anvil, outsiders.ethereum)
  script.call(core, coreAbi, 'publishMessage', [0, `0x${bytes[name]}`, 1])
  const [message] = (await script.mine()).flatMap((one) => published(one, core, wormholeChainId))
  if (!message) throw new Error('nothing was published')
  await guardian.waitFor(wormholeChainId, message.emitter, message.sequence)
}

/** Restarts the process, because plug-ins are loaded only at its start. */
async function restart(scene: StuckScene): Promise<void> {
  await (
    await scene.kill('chain', 'bsc')
  )()
}

function fileCase(name: Name, fault: string, code: StuckCase['code'], spoil: (module: string) => Promise<unknown>): StuckCase {
  return {
    ...{ name: `plugin-${name}`, fault, code },
    async make(scene) {
      const { moduleOf, textOf } = scene.plugins ?? missing()
      await spoil(moduleOf(name))
      await restart(scene)
      await publish(scene, name)
      return {
        async mend() {
          await writeFile(moduleOf(name), textOf(name))
          await restart(scene)
        },
      }
    },
  }
}

function missing(): never {
  throw new Error('the network has no plug-ins')
}

export const pluginCases: readonly StuckCase[] = [
  fileCase('invalid', 'the file of a plug-in is missing when a process starts', 'PLUGIN_INVALID', (module) =>
    rename(module, `${module}.away`),
  ),
  fileCase('changed', 'the file of a plug-in has changed when a process starts', 'PLUGIN_CHANGED', (module) =>
    writeFile(module, '// A change.\n', { flag: 'a' }),
  ),
  {
    ...{ name: 'plugin-failing', fault: 'a plug-in throws an error', code: 'PLUGIN_FAILED' },
    async make(scene) {
      const flag = `${(scene.plugins ?? missing()).moduleOf('failing')}.flag`
      await writeFile(flag, '')
      await publish(scene, 'failing')
      return { mend: () => rm(flag) }
    },
  },
]
