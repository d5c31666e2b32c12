import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Interface, MaxUint256, type InterfaceAbi, zeroPadValue } from 'ethers'
import { devnetCctpAccounts, type DevnetAccount } from '../chain/accounts.ts'
import type { Anvil } from '../chain/anvil.ts'
import { type Artifact, Script } from '../chain/contracts.ts'
import { compiledArtifact } from '../chain/solidity.ts'
import { deployRealV2, realV2, type RealV2Options } from './real-v2.ts'

export interface CctpPlan {
  readonly name: string
  readonly anvil: Anvil
  readonly domain: number
}

interface CctpEndContracts {
  readonly transmitter: string
  readonly messenger: string
}

export interface CctpEnd extends CctpPlan {
  readonly deployer: DevnetAccount
  readonly user: DevnetAccount
  readonly token: string
  readonly minter: string
  readonly feeRecipient: string
  readonly contracts: Readonly<Record<1 | 2, CctpEndContracts>>
}

export interface CctpOptions {
  /** Attesters in ascending order of their addresses. */
  readonly attesters: readonly DevnetAccount[]
  /** Number of attesters that must sign. Default: all. */
  readonly threshold?: number
}

const supply = 10n ** 15n
const mostBodyBytes = 8_192
const libraryPlaceholder = '__$8c977731748aa4504deed57239565df533$__'

/** Loads one of Circle's real v1 contracts by its path, because the package's entry point does not load. */
async function realArtifact(name: 'MessageTransmitter' | 'TokenMessenger', library: string): Promise<Artifact> {
  const entry = createRequire(import.meta.url).resolve('@wormhole-foundation/sdk-evm-cctp')
  const file = join(dirname(entry), 'ethers-contracts', 'factories', `${name}__factory.js`)
  const module = (await import(pathToFileURL(file).href)) as Record<string, { abi: InterfaceAbi; bytecode: string }>
  const factory = module[`${name}__factory`]
  if (!factory) throw new Error(`@wormhole-foundation/sdk-evm-cctp has no contract ${name}`)
  return { abi: new Interface(factory.abi), bytecode: factory.bytecode.replaceAll(libraryPlaceholder, library.slice(2)) }
}

export async function cctpAbis() {
  const real = (name: 'MessageTransmitter' | 'TokenMessenger') => realArtifact(name, `0x${'00'.repeat(20)}`)
  const second = realV2()
  const v2 = second ? [second.transmitter, second.messenger] : ['CctpTransmitterV2', 'CctpMessengerV2'].map(compiledArtifact)
  const own = ['CctpToken', 'CctpMinter'].map(compiledArtifact)
  const all = await Promise.all([real('MessageTransmitter'), real('TokenMessenger'), ...v2, ...own])
  const [transmitter1, messenger1, transmitter2, messenger2, token, minter] = all.map(({ abi }) => abi) as [
    Interface,
    Interface,
    Interface,
    Interface,
    Interface,
    Interface,
  ]
  return { 1: { transmitter: transmitter1, messenger: messenger1 }, 2: { transmitter: transmitter2, messenger: messenger2 }, token, minter }
}

/** Deploys both versions on all chains, and links them. Throws Error with the transaction that reverted. */
export async function deployCctp(plans: readonly CctpPlan[], options: CctpOptions): Promise<CctpEnd[]> {
  const ends = await Promise.all(plans.map((plan, position) => deploy(plan, position, options)))
  await Promise.all(ends.map((end) => link(end, ends)))
  return ends
}

async function deploy(plan: CctpPlan, position: number, { attesters, threshold = attesters.length }: CctpOptions): Promise<CctpEnd> {
  const { anvil, domain } = plan
  const { deployer, user } = devnetCctpAccounts(position)
  for (const { address } of [deployer, user]) await anvil.rpc('anvil_setBalance', [address, '0xd3c21bcecceda1000000'])
  const script = await Script.of(anvil, deployer)
  const own = async (name: string, args: readonly unknown[]) => script.deploy(name, args, await compiledArtifact(name))
  const library = await own('CctpMessageLibrary', [])
  const real = async (name: Parameters<typeof realArtifact>[0], args: readonly unknown[]) =>
    script.deploy(name, args, await realArtifact(name, library))
  const feeRecipient = `0x${'fe'.repeat(20)}`
  const addresses = attesters.map(({ address }) => address)
  const minter = await own('CctpMinter', [])
  const token = await own('CctpToken', [minter])
  const transmitter1 = await real('MessageTransmitter', [domain, addresses[0], mostBodyBytes, 0])
  const messenger1 = await real('TokenMessenger', [transmitter1, 0])
  const second = await deployV2(script, {
    owner: deployer.address,
    domain,
    attesters: addresses,
    threshold,
    mostBodyBytes,
    minter,
    feeRecipient,
  })
  const abis = await cctpAbis()
  for (const other of addresses.slice(1)) script.call(transmitter1, abis[1].transmitter, 'enableAttester', [other])
  if (threshold !== 1) script.call(transmitter1, abis[1].transmitter, 'setSignatureThreshold', [threshold])
  script.call(transmitter1, abis[1].transmitter, 'updatePauser', [deployer.address])
  script.call(messenger1, abis[1].messenger, 'addLocalMinter', [minter])
  for (const messenger of [messenger1, second.messenger]) script.call(minter, abis.minter, 'addLocalTokenMessenger', [messenger])
  script.call(token, abis.token, 'mint', [user.address, supply])
  await script.mine()
  const approvals = await Script.of(anvil, user)
  for (const messenger of [messenger1, second.messenger]) approvals.call(token, abis.token, 'approve', [messenger, MaxUint256])
  await approvals.mine()
  const contracts = {
    1: { transmitter: transmitter1, messenger: messenger1 },
    2: second,
  }
  return { ...plan, deployer, user, token, minter, feeRecipient, contracts }
}

async function deployV2(script: Script, options: RealV2Options): Promise<CctpEndContracts> {
  const real = realV2()
  if (real) return deployRealV2(script, real, options)
  const { domain, attesters, threshold, minter, feeRecipient } = options
  const own = async (name: string, args: readonly unknown[]) => script.deploy(name, args, await compiledArtifact(name))
  const transmitter = await own('CctpTransmitterV2', [domain, attesters, threshold])
  return { transmitter, messenger: await own('CctpMessengerV2', [transmitter, minter, feeRecipient]) }
}

async function link({ anvil, deployer, domain, token, minter, contracts }: CctpEnd, ends: readonly CctpEnd[]): Promise<void> {
  const abis = await cctpAbis()
  const script = await Script.of(anvil, deployer)
  for (const other of ends) {
    if (other.domain === domain) continue
    script.call(minter, abis.minter, 'linkTokenPair', [token, other.domain, zeroPadValue(other.token, 32)])
    for (const version of [1, 2] as const) {
      const remote = zeroPadValue(other.contracts[version].messenger, 32)
      script.call(contracts[version].messenger, abis[version].messenger, 'addRemoteTokenMessenger', [other.domain, remote])
    }
  }
  await script.mine()
}
