import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Interface, type InterfaceAbi } from 'ethers'
import { freshAddress } from '../chain/accounts.ts'
import type { Artifact, Script } from '../chain/contracts.ts'

const files = {
  transmitter: ['src/v2/MessageTransmitterV2.sol', 'MessageTransmitterV2'],
  messenger: ['src/v2/TokenMessengerV2.sol', 'TokenMessengerV2'],
  proxy: ['src/proxy/AdminUpgradableProxy.sol', 'AdminUpgradableProxy'],
} as const

type Part = keyof typeof files
type RealV2 = Readonly<Record<Part, Artifact>>

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, { abi: InterfaceAbi; evm: { bytecode: { object: string } } }>>>>
}

let compiled: RealV2 | undefined

/** Circle's contracts of CCTP v2, compiled. Undefined without `PORTAGE_REAL_CCTP`, a clone of Circle's repository. */
export function realV2(): RealV2 | undefined {
  const folder = process.env['PORTAGE_REAL_CCTP']
  if (folder) compiled ??= compile(folder)
  return compiled
}

/**
 * The clone must have the submodules of the repository, and the npm package `solc` in the version that the sources
 * name.
 */
function compile(folder: string): RealV2 {
  const solc = createRequire(join(folder, 'package.json'))('solc') as { compile(input: string, callbacks: object): string }
  const read = (path: string) => ({ contents: readFileSync(join(folder, path), 'utf8') })
  const sources = Object.fromEntries(Object.values(files).map(([path]) => [path, { content: read(path).contents }]))
  const settings = {
    remappings: ['@memview-sol/=lib/memview-sol/', '@openzeppelin/=lib/openzeppelin-contracts/'],
    optimizer: { enabled: true, runs: 100_000 },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
  }
  const { contracts, errors = [] } = JSON.parse(
    solc.compile(JSON.stringify({ language: 'Solidity', sources, settings }), { import: read }),
  ) as Output
  const problem = errors.find(({ severity }) => severity === 'error')
  if (problem) throw new Error(problem.formattedMessage)
  const made = (part: Part): Artifact => {
    const [path, name] = files[part]
    const contract = contracts?.[path]?.[name]
    if (!contract) throw new Error(`${folder} has no contract ${name}`)
    return { abi: new Interface(contract.abi), bytecode: `0x${contract.evm.bytecode.object}` }
  }
  return { transmitter: made('transmitter'), messenger: made('messenger'), proxy: made('proxy') }
}

export interface RealV2Options {
  readonly owner: string
  readonly domain: number
  readonly attesters: readonly string[]
  readonly threshold: number
  readonly mostBodyBytes: number
  readonly minter: string
  readonly feeRecipient: string
}

/**
 * Deploys the contracts behind proxies, as Circle does. `owner` has all roles except the administrator of the proxies.
 */
export function deployRealV2(
  script: Script,
  { transmitter, messenger, proxy }: RealV2,
  { owner, domain, attesters, threshold, mostBodyBytes, minter, feeRecipient }: RealV2Options,
): { transmitter: string; messenger: string } {
  const behindProxy = (name: string, { abi, bytecode }: Artifact, args: readonly unknown[], settings: readonly unknown[]) => {
    const logic = script.deploy(name, args, { abi, bytecode })
    return script.deploy('AdminUpgradableProxy', [logic, freshAddress(), abi.encodeFunctionData('initialize', settings)], proxy)
  }
  const version = 1
  const roles = [owner, owner, owner, owner]
  const settings = [...roles, attesters, threshold, mostBodyBytes]
  const transmitterAddress = behindProxy('MessageTransmitterV2', transmitter, [domain, version], settings)
  const messengerRoles = [owner, owner, feeRecipient, owner, minter, owner]
  const messengerAddress = behindProxy('TokenMessengerV2', messenger, [transmitterAddress, version], [messengerRoles, 0, [], []])
  return { transmitter: transmitterAddress, messenger: messengerAddress }
}
