import { MaxUint256 } from 'ethers'
import { accountIndex, devnetAccount, freshAddress, type DevnetAccount } from '../chain/accounts.ts'
import type { Anvil } from '../chain/anvil.ts'
import { artifact, Script, type Mined } from '../chain/contracts.ts'
import { governance, registerChainPayload, signVaa, toUniversal, type Message } from './vaa.ts'

export interface ChainPlan {
  readonly name: string
  readonly wormholeChainId: number
  readonly anvil: Anvil
  readonly deployer: DevnetAccount
  readonly user: DevnetAccount
}

/** The real Wormhole contracts of a chain. Addresses are lower-case 0x. */
export interface WormholeChain extends ChainPlan {
  readonly core: string
  readonly tokenBridge: string
  /** This chain's WETH9, in which wrapAndTransferETH wraps coins. */
  readonly weth: string
  /** An ERC20 of this chain, 18 decimals. */
  readonly token: string
  /** The other chain's WETH, wrapped on this chain. A transfer back unwraps it to the coin. */
  readonly wrappedWeth: string
  readonly wrappedToken: string
  /** A contract that redeems each payload 3 to its own address at this chain's token bridge. */
  readonly redeemer: string
  /** First sequence number of users. The deployment uses lower numbers. */
  readonly firstSequence: bigint
}

export interface DeployOptions {
  readonly guardians: readonly DevnetAccount[]
  readonly consistencyLevel?: number
}

/** wei of the other chain's coin and token that each user owns after the deployment. */
const seed = 100_000n * 10n ** 18n
/** Two attestations and two seed transfers. */
const messagesPerDeployment = 4n
const coreAbi = artifact('Implementation').abi
const bridgeAbi = artifact('BridgeImplementation').abi
const tokenAbi = artifact('TokenImplementation').abi

/** The chains have different accounts, so that no address is the same on both. */
export function chainPlan(name: string, wormholeChainId: number, anvil: Anvil, position: number): ChainPlan {
  const account = (base: number) => devnetAccount(base + position)
  return { name, wormholeChainId, anvil, deployer: account(accountIndex.deployer), user: account(accountIndex.user) }
}

/**
 * Deploys core, token bridge, WETH and an ERC20 on both chains. Seed transfers create the wrappers on the other chain.
 */
export async function deployWormhole(
  plans: readonly [ChainPlan, ChainPlan],
  options: DeployOptions,
): Promise<[WormholeChain, WormholeChain]> {
  const [a, b] = await Promise.all([prepare(plans[0], options), prepare(plans[1], options)])
  const [fromA, fromB] = await Promise.all([connect(a, b, options), connect(b, a, options)])
  return Promise.all([receive(a, b, fromB, options), receive(b, a, fromA, options)])
}

interface Site {
  readonly plan: ChainPlan
  readonly script: Script
  readonly core: string
  readonly tokenBridge: string
  readonly weth: string
  readonly token: string
}

/** Queues the deployments and calls that need only this chain. Mines nothing. */
async function prepare(plan: ChainPlan, { guardians, consistencyLevel = 1 }: DeployOptions): Promise<Site> {
  const { anvil, wormholeChainId } = plan
  const script = await Script.of(anvil, plan.deployer)
  const government = [governance.chain, `0x${governance.emitter}`] as const
  const setup = script.deploy('Setup')
  const implementation = script.deploy('Implementation')
  const coreSetup = [implementation, guardians.map(({ address }) => address), wormholeChainId, ...government, anvil.chainId]
  const core = script.deploy('Wormhole', [setup, artifact('Setup').abi.encodeFunctionData('setup', coreSetup)])
  const weth = script.deploy('MockWETH9')
  const wrapper = script.deploy('TokenImplementation')
  const bridgeSetup = script.deploy('BridgeSetup')
  const bridge = script.deploy('BridgeImplementation')
  const bridgeArguments = [bridge, wormholeChainId, core, ...government, wrapper, weth, consistencyLevel, anvil.chainId]
  const initialize = artifact('BridgeSetup').abi.encodeFunctionData('setup', bridgeArguments)
  const tokenBridge = script.deploy('TokenBridge', [bridgeSetup, initialize])
  const token = script.deploy('TokenImplementation')
  const symbol = `TOK${wormholeChainId}`
  script.call(token, tokenAbi, 'initialize', [
    `Devnet token of ${plan.name}`,
    symbol,
    18,
    0,
    plan.deployer.address,
    0,
    `0x${toUniversal(token)}`,
  ])
  script.call(token, tokenAbi, 'mint', [plan.user.address, 10n * seed])
  script.call(token, tokenAbi, 'mint', [plan.deployer.address, seed])
  return { plan, script, core, tokenBridge, weth, token }
}

/**
 * Registers the other bridge, attests both tokens and sends the seed transfers. Returns the four messages, in the order
 * of publication.
 */
async function connect(site: Site, other: Site, { guardians }: DeployOptions): Promise<Message[]> {
  const { script, tokenBridge, weth, token, plan } = site
  const payload = registerChainPayload(other.plan.wormholeChainId, other.tokenBridge)
  const registration = {
    timestamp: 0,
    vaaNonce: 0,
    emitterChain: governance.chain,
    emitter: governance.emitter,
    sequence: 0n,
    consistencyLevel: 1,
    payload,
  }
  script.call(tokenBridge, bridgeAbi, 'registerChain', [signVaa(registration, guardians).bytes])
  const target = [other.plan.wormholeChainId, `0x${toUniversal(other.plan.user.address)}`] as const
  script.call(tokenBridge, bridgeAbi, 'attestToken', [weth, 0])
  script.call(tokenBridge, bridgeAbi, 'attestToken', [token, 0])
  script.call(tokenBridge, bridgeAbi, 'wrapAndTransferETH', [...target, 0, 0], seed)
  script.call(token, tokenAbi, 'approve', [tokenBridge, seed])
  script.call(tokenBridge, bridgeAbi, 'transferTokens', [token, seed, ...target, 0, 0])
  const mined = await script.mine()
  return mined.flatMap((transaction) => published(transaction, site.core, plan.wormholeChainId))
}

async function receive(site: Site, other: Site, messages: readonly Message[], { guardians }: DeployOptions): Promise<WormholeChain> {
  const { script, tokenBridge, plan } = site
  messages.forEach((message, index) => {
    const method = index < 2 ? 'createWrapped' : 'completeTransfer'
    script.call(tokenBridge, bridgeAbi, method, [signVaa(message, guardians).bytes])
  })
  await script.mine()
  const wrapped = (token: string) => wrappedAsset(plan.anvil, tokenBridge, other.plan.wormholeChainId, token)
  const [wrappedWeth, wrappedToken] = await Promise.all([wrapped(other.weth), wrapped(other.token)])
  const approvals = await Script.of(plan.anvil, plan.user)
  for (const token of [site.token, wrappedWeth, wrappedToken]) approvals.call(token, tokenAbi, 'approve', [tokenBridge, MaxUint256])
  await approvals.mine()
  return {
    ...plan,
    core: site.core,
    tokenBridge,
    weth: site.weth,
    token: site.token,
    wrappedWeth,
    wrappedToken,
    redeemer: await deployRedeemer(plan.anvil, site.tokenBridge),
    firstSequence: messagesPerDeployment,
  }
}

/** Deploys a contract that forwards every call to the token bridge, because the bridge pays its caller. */
export async function deployRedeemer(anvil: Pick<Anvil, 'rpc'>, tokenBridge: string): Promise<string> {
  const address = freshAddress()
  // Bytecode: calldatacopy(0, 0, size), call(gas, bridge, 0, 0, size, 0, 0), revert if the call failed.
  const code = `0x36600060003760006000366000600073${tokenBridge.slice(2)}5af1602e5760006000fd5b00`
  await anvil.rpc('anvil_setCode', [address, code])
  return address
}

export function published(transaction: Mined, core: string, emitterChain: number): Message[] {
  return transaction.logs
    .filter((log) => log.address.toLowerCase() === core)
    .map((log) => coreAbi.parseLog(log))
    .filter((event) => event?.name === 'LogMessagePublished')
    .map((event) => {
      const { sender, sequence, nonce, payload, consistencyLevel } = event?.args.toObject() ?? {}
      const emitter = toUniversal(String(sender))
      return {
        timestamp: transaction.timestamp,
        vaaNonce: Number(nonce),
        emitterChain,
        emitter,
        sequence,
        consistencyLevel: Number(consistencyLevel),
        payload,
      }
    })
}

/** Address of a foreign token's wrapper, or the zero address. `token`: its EVM address on its own chain. */
export async function wrappedAsset(anvil: Anvil, tokenBridge: string, originChain: number, token: string): Promise<string> {
  const data = bridgeAbi.encodeFunctionData('wrappedAsset', [originChain, `0x${toUniversal(token)}`])
  const answer = await anvil.rpc<string>('eth_call', [{ to: tokenBridge, data }, 'latest'])
  return String(bridgeAbi.decodeFunctionResult('wrappedAsset', answer)[0]).toLowerCase()
}
