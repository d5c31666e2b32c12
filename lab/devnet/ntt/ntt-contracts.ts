import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Interface, type InterfaceAbi } from 'ethers'
import type { DevnetAccount } from '../chain/accounts.ts'
import type { AnvilNode } from '../chain/anvil.ts'
import type { Artifact } from '../chain/contracts.ts'

/** One end of an NTT token. Addresses are lower-case 0x. */
export interface NttEnd {
  readonly name: string
  readonly wormholeChainId: number
  readonly anvil: AnvilNode
  readonly core: string
  readonly deployer: DevnetAccount
  readonly user: DevnetAccount
  readonly token: string
  readonly decimals: number
  readonly manager: string
  /** Each transceiver is an emitter, so each transfer has one message per transceiver. */
  readonly transceivers: readonly string[]
}

interface Factory {
  readonly abi: InterfaceAbi
  linkBytecode(libraries: Readonly<Record<string, string>>): string
}

const load = createRequire(import.meta.url)
const library = 'src/libraries/TransceiverStructs.sol:TransceiverStructs'

/** Loads a contract by its path, because the package's entry point needs the whole Wormhole SDK. */
function factory(name: 'NttManager' | 'WormholeTransceiver'): Factory {
  const folder = join(dirname(load.resolve('@wormhole-foundation/sdk-evm-ntt')), 'ethers-contracts', '2_0_0', 'factories')
  const module = load(join(folder, `${name}__factory.js`)) as Readonly<Record<string, Factory>>
  const found = module[`${name}__factory`]
  if (!found) throw new Error(`@wormhole-foundation/sdk-evm-ntt has no contract ${name} 2.0.0`)
  return found
}

const [manager, transceiver] = [factory('NttManager'), factory('WormholeTransceiver')]
export const managerAbi = new Interface(manager.abi)
export const transceiverAbi = new Interface(transceiver.abi)

export function linked(structs: string): { readonly manager: Artifact; readonly transceiver: Artifact } {
  return {
    manager: { abi: managerAbi, bytecode: manager.linkBytecode({ [library]: structs }) },
    transceiver: { abi: transceiverAbi, bytecode: transceiver.linkBytecode({ [library]: structs }) },
  }
}
