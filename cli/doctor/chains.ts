import { Interface } from 'ethers'
import type { NodeStatus } from '../../chains/port.ts'
import { coinOfChain } from '../../config/coins.ts'
import type { ChainConfig, Config } from '../../config/schema/schema.ts'
import { amountText } from '../../domain/text/amounts.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type ConfiguredChain as Reader, createConfiguredChain } from '../../chains/registry.ts'
import { invalid } from '../arguments/options.ts'
import { type Check, checkTimeoutMs, fail, type Finding, look, warn } from './check.ts'
import { checkKey, operatorCallsFinding } from './keys.ts'

/** Every node, then contracts and lanes through the first healthy one. */
export async function checkChains({ chains }: Config): Promise<Check[]> {
  const found = await Promise.all(Object.entries(chains).map(([name, chain]) => checkChain(name, chain, coinOfChain({ chains }, name))))
  return found.flat()
}

/** @param coin symbol, where it is known */
async function checkChain(name: string, chain: ChainConfig, coin: string | undefined): Promise<Check[]> {
  const area = `chain ${name}`
  const readers = chain.nodes.map((node, index) => {
    const nodes = [{ ...node, name: node.name ?? `node-${index + 1}` }]
    return createConfiguredChain(name, chain, { nodes, timeoutMs: checkTimeoutMs / 2 })
  })
  try {
    const nodes = await Promise.all(
      readers.map((reader) => {
        const { name: node, origin, use } = statusOf(reader)
        return look(area, `node ${node} (${use}) ${origin}`, () => (reads(reader) ? checkNode(reader, chain) : checkSender(reader)))
      }),
    )
    const reader = readers.find((one, index) => reads(one) && nodes[index]?.status !== 'fail')
    const keys = await Promise.all(chain.lanes.map((lane) => look(area, `key of ${lane.address}`, () => checkKey(chain, lane))))
    const calls = await Promise.all(
      chain.lanes.flatMap((lane) => {
        const finding = operatorCallsFinding(lane)
        return finding === undefined ? [] : [look(area, `operators' calls of ${lane.address}`, () => Promise.resolve(finding))]
      }),
    )
    if (!reader) return [...nodes, ...keys, ...calls]
    const { contracts, wormholeChainId } = chain
    const wormhole = await Promise.all(
      contracts && wormholeChainId !== undefined
        ? [
            look(area, 'core contract', () => checkCore(reader, contracts, wormholeChainId)),
            look(area, 'token bridge contract', () => checkTokenBridge(reader, contracts, wormholeChainId)),
          ]
        : [],
    )
    const balances = await Promise.all(
      chain.lanes.length === 0
        ? [look(area, 'lanes', async () => warn('no lane is configured', 'Transfers to this chain wait until there is one.'))]
        : chain.lanes.map(({ address }) => look(area, `lane ${address}`, () => checkLane(reader, { address, coin }))),
    )
    return [...nodes, ...wormhole, ...keys, ...calls, ...balances]
  } finally {
    for (const reader of readers) reader.close()
  }
}

function statusOf(reader: Reader): NodeStatus {
  return reader.nodes()[0]!
}

function reads(reader: Reader): boolean {
  const { use } = statusOf(reader)
  return use === 'all' || use === 'read'
}

async function checkSender(reader: Reader): Promise<Finding> {
  await reader.connect().catch((error: unknown) => {
    if (statusOf(reader).state !== 'up') throw error
  })
  return `network ${reader.networkId}, receives transactions`
}

async function checkNode(reader: Reader, { finality, networkId }: ChainConfig): Promise<Finding> {
  await reader.connect()
  const head = reader.heads.current
  if (!head) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'The node gave no block.' })
  const age = Math.round(Date.now() / 1000 - head.latest.timestamp)
  const detail = `network ${networkId}, head ${head.latest.height} (${age} s old), final ${head.finalized}`
  if (finality.kind === 'tag' && head.finalized === 0 && head.latest.height > 0) {
    return warn(`${detail}: nothing is tagged final`, 'If this network never tags a block, configure finality by depth.')
  }
  return detail
}

const functions = new Interface([
  'function chainId() view returns (uint16)',
  'function wormhole() view returns (address)',
  'function getCurrentGuardianSetIndex() view returns (uint32)',
  'function getGuardianSet(uint32) view returns (tuple(address[] keys, uint32 expirationTime))',
])

type Contracts = NonNullable<ChainConfig['contracts']>

async function checkCore(reader: Reader, { core }: Contracts, wormholeChainId: number): Promise<Finding> {
  const chainId = Number(await read(reader, core, 'chainId'))
  if (chainId !== wormholeChainId) return wrongChainId(core, chainId, wormholeChainId)
  const index = (await read(reader, core, 'getCurrentGuardianSetIndex')) as bigint
  const [keys] = (await read(reader, core, 'getGuardianSet', [index])) as readonly [readonly string[], bigint]
  if (keys.length === 0) return fail(`${core}: guardian set ${index} has no keys`, 'Check contracts.core of this chain.')
  return `${core}, guardian set ${index} of ${keys.length}`
}

async function checkTokenBridge(reader: Reader, { core, tokenBridge }: Contracts, wormholeChainId: number): Promise<Finding> {
  const chainId = Number(await read(reader, tokenBridge, 'chainId'))
  if (chainId !== wormholeChainId) return wrongChainId(tokenBridge, chainId, wormholeChainId)
  const itsCore = String(await read(reader, tokenBridge, 'wormhole')).toLowerCase()
  if (itsCore === core) return tokenBridge
  const remedy = 'Correct contracts.core or contracts.tokenBridge of this chain.'
  return fail(`${tokenBridge} belongs to the core contract ${itsCore}`, remedy)
}

function wrongChainId(contract: string, actual: number, expected: number): Finding {
  return fail(`${contract} belongs to Wormhole chain ${actual}, not ${expected}`, 'Correct wormholeChainId or the contract address.')
}

async function read(reader: Reader, contract: string, name: string, args: readonly unknown[] = []): Promise<unknown> {
  const answer = await reader.call(contract, functions.encodeFunctionData(name, args), 'latest')
  // An address without code answers every call with empty data.
  if (answer === '0x') throw invalid(`${contract} does not answer ${name}(): there is no such contract on this network.`)
  return functions.decodeFunctionResult(name, answer)[0]
}

async function checkLane(
  reader: Reader,
  { address, coin }: { readonly address: string; readonly coin: string | undefined },
): Promise<Finding> {
  const [account, hasCode] = await Promise.all([reader.account(address), reader.hasCode(address)])
  const detail = `balance ${amountText(account.balance, coin)}, nonce ${account.latestNonce}`
  if (account.balance === '0') return fail(detail, 'Send it the native coin of this chain: it pays the gas.')
  return hasCode ? warn(`${detail}; the address has code (EIP-7702)`, 'Set its window to 1, or use a plain key.') : detail
}
