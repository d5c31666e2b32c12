import { votersOf } from '../../chains/heads.ts'
import type { NodeStatus } from '../../chains/port.ts'
import { coinOfChain } from '../../config/networks.ts'
import type { ChainConfig, Config, LaneSettings } from '../../config/schema/schema.ts'
import { amountText } from '../../domain/text/amounts.ts'
import { stalledAfter } from '../../operations/causes/explain-chains.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { chainFamilies, type ConfiguredChain as Reader, createConfiguredChain } from '../../chains/registry.ts'
import { type ContractReader, read } from '../../bridges/kit/contract-reader.ts'
import { coreAbi } from '../../bridges/kit/signed-messages.ts'
import { type Check, checkOf, checkTimeoutMs, fail, type Finding, look, orError, viewsOf, warn } from './check.ts'

/**
 * Reads contracts and lanes through a node whose check passes or, if there is none, through a node whose check warns.
 * Without such a node, does not read them.
 */
export async function checkChains({ chains }: Config): Promise<Check[]> {
  const found = await Promise.all(Object.entries(chains).map(([name, chain]) => checkChain(name, chain, coinOfChain({ chains }, name))))
  return found.flat()
}

export function checkNodeCounts({ chains, bridges }: Pick<Config, 'chains' | 'bridges'>): Check[] {
  const sources = new Set(bridges['native-bridge']?.routes.map(({ source }) => source))
  return Object.entries(chains).flatMap(([name, { nodes }]) => {
    if (votersOf(nodes).length > 1) return []
    const means = sources.has(name)
      ? 'it alone decides which transfers of the native bridge were published, so if it lies, your keys deliver transfers that nobody made'
      : 'nothing outvotes it if it lies, and the chain waits if it is down'
    const remedy = 'Configure at least three nodes of different providers (docs/operate/chains.md, "How many nodes").'
    return [checkOf(`chain ${name}`, 'number of nodes', warn(`one node answers all reads: ${means}`, remedy))]
  })
}

export function checkNodeNames({ chains }: Pick<Config, 'chains'>): Check[] {
  return Object.entries(chains).flatMap(([name, { nodes }]) => {
    const unnamed = nodes.flatMap((node, index) => (node.name === undefined ? [`node-${index + 1}`] : []))
    if (nodes.length < 2 || unnamed.length === 0) return []
    const what = `nodes without a name: ${unnamed.join(', ')}. An order that disables one of them names its position in the list, which another node may have later`
    return [checkOf(`chain ${name}`, 'names of nodes', warn(what, 'Give each node a `name`.'))]
  })
}

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
    const withStatus = (status: Check['status']) => readers.find((one, index) => reads(one) && nodes[index]?.status === status)
    const reader = withStatus('ok') ?? withStatus('warn')
    const lanes = chain.shadow ? [] : chain.lanes
    const keys = await Promise.all(lanes.map((lane) => look(area, `key of ${lane.address}`, () => checkKey(chain, lane))))
    const calls = lanes.flatMap((lane) => {
      const finding = operatorCallsFinding(lane)
      return finding === undefined ? [] : [checkOf(area, `operators' calls of ${lane.address}`, finding)]
    })
    if (!reader) return [...nodes, ...keys, ...calls]
    const { contracts, wormholeChainId } = chain
    const wormhole = contracts && wormholeChainId !== undefined ? await checkContracts(area, reader, contracts, wormholeChainId) : []
    const balances = await Promise.all(lanes.map(({ address }) => look(area, `lane ${address}`, () => checkLane(reader, address, coin))))
    const noLane = chain.shadow
      ? warn('shadow mode: nothing is sent', 'To deliver, remove `shadow` from the chain in the config.')
      : warn('no lane is configured', 'Transfers to this chain wait until there is one.')
    return [...nodes, ...wormhole, ...keys, ...calls, ...(lanes.length === 0 ? [checkOf(area, 'lanes', noLane)] : balances)]
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

/** Seconds that an honest head may be ahead of this machine's clock (go-ethereum, consensus/ethash: 15). */
const mostAheadSeconds = 15

async function checkNode(reader: Reader, { finality, networkId, blockTimeMs }: ChainConfig): Promise<Finding> {
  await reader.connect()
  const head = reader.heads.current
  if (!head) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'The node gave no block.' })
  const age = Math.round(Date.now() / 1000 - head.latest.timestamp)
  const detail = `network ${networkId}, head ${head.latest.height} (${age} s old), final ${head.finalized}`
  if (finality.kind === 'tag' && head.finalized === 0 && head.latest.height > 0) {
    return warn(`${detail}: nothing is tagged final`, 'If this network never tags a block, configure finality by depth.')
  }
  if (age < -mostAheadSeconds) {
    return warn(`${detail}: the head is in the future`, 'Check the clock of this machine. If it is right, this node lies: replace it.')
  }
  if (age * 1_000 > Math.max(stalledAfter.leastMs, stalledAfter.blocks * blockTimeMs)) {
    return warn(`${detail}: the head is old`, 'Compare it with the other nodes: the node is behind, or the chain has stalled.')
  }
  return detail
}

type Contracts = NonNullable<ChainConfig['contracts']>

export function checkContracts(area: string, reader: ContractReader, contracts: Contracts, wormholeChainId: number): Promise<Check[]> {
  const { core, tokenBridge } = contracts
  const check = async (field: keyof Contracts, checking: Promise<Finding>) => {
    const found = await orError(checking, 'NODE_REFUSED')
    if (!(found instanceof RelayerError)) return found
    return fail(`${contracts[field]} is not such a contract: ${found.about}`, `Correct contracts.${field} of this chain.`)
  }
  return Promise.all([
    look(area, 'core contract', () => check('core', checkCore(reader, contracts, wormholeChainId))),
    ...(tokenBridge === undefined
      ? []
      : [
          look(area, 'token bridge contract', () => check('tokenBridge', checkTokenBridge(reader, { core, tokenBridge }, wormholeChainId))),
        ]),
  ])
}

async function checkCore(reader: ContractReader, { core }: Contracts, wormholeChainId: number): Promise<Finding> {
  const wrong = await wrongChainId(reader, core, wormholeChainId)
  if (wrong) return wrong
  const [index] = await read(reader, { abi: coreAbi, to: core, method: 'getCurrentGuardianSetIndex' })
  const [[keys]] = await read(reader, { abi: coreAbi, to: core, method: 'getGuardianSet', args: [index] })
  if (keys.length === 0) return fail(`${core}: guardian set ${index} has no keys`, 'Check contracts.core of this chain.')
  return `${core}, guardian set ${index} of ${keys.length}`
}

async function checkTokenBridge(
  reader: ContractReader,
  { core, tokenBridge }: Required<Contracts>,
  wormholeChainId: number,
): Promise<Finding> {
  const wrong = await wrongChainId(reader, tokenBridge, wormholeChainId)
  if (wrong) return wrong
  const itsCore = String(await viewsOf(reader)(tokenBridge, 'wormhole()', 'address')).toLowerCase()
  if (itsCore === core) return tokenBridge
  const remedy = 'Correct contracts.core or contracts.tokenBridge of this chain.'
  return fail(`${tokenBridge} belongs to the core contract ${itsCore}`, remedy)
}

async function wrongChainId(reader: ContractReader, contract: string, expected: number): Promise<Finding | undefined> {
  const actual = Number(await viewsOf(reader)(contract, 'chainId()', 'uint16'))
  if (actual === expected) return undefined
  return fail(`${contract} belongs to Wormhole chain ${actual}, not ${expected}`, 'Correct wormholeChainId or the contract address.')
}

async function checkLane(reader: Reader, address: string, coin: string | undefined): Promise<Finding> {
  const [account, hasCode] = await Promise.all([reader.account(address), reader.hasCode(address)])
  const detail = `balance ${amountText(account.balance, coin)}, nonce ${account.latestNonce}`
  if (account.balance === '0') return fail(detail, 'Send it the native coin of this chain: it pays the gas.')
  return hasCode ? warn(`${detail}; the address has code (EIP-7702)`, 'Set its window to 1, or use a plain key.') : detail
}

/** Lets the key sign a no-op, because an existing key may refuse to sign. Throws the errors of opening and signing. */
export async function checkKey(chain: Pick<ChainConfig, 'family' | 'networkId'>, lane: LaneSettings): Promise<Finding> {
  const { address, signer: spec } = lane
  if (!spec) return 'not on this machine'
  const signer = await chainFamilies[chain.family].createSigner(spec, address)
  // A harmless signature: its bytes never leave this function, and no node accepts a fee of 1 wei per gas.
  const noop = { to: signer.address, data: '0x', value: '0', gasLimit: '21000' }
  await signer.sign({ ...noop, networkId: String(chain.networkId), nonce: 0, maxFee: '1', tip: '0' })
  return keyFindings[spec.kind]
}

/** Reports the calls of operators that the lane may sign without a proof. Undefined if there are none. */
export function operatorCallsFinding({ operatorCalls = {} }: Pick<LaneSettings, 'operatorCalls'>): Finding | undefined {
  const calls = Object.entries(operatorCalls).flatMap(([contract, starts]) => starts.map((start) => ({ contract, start })))
  // A start of 10 characters is only a selector, so it allows any arguments.
  const open = calls.filter(({ start }) => start.length === 10)
  if (calls.length === 0) return undefined
  if (open.length === 0) return `${calls.length}, each with its first arguments`
  const named = open.map(({ contract, start }) => `${start} of ${contract}`).join(', ')
  return warn(
    `with any arguments: ${named}; nothing proves them, and any user who reaches Temporal can have them signed`,
    'List the first arguments after the selector, as far as they never change (docs/operate/signers.md), or remove unused calls.',
  )
}

export const keyFindings: Record<NonNullable<LaneSettings['signer']>['kind'], Finding> = {
  keystore: 'the keystore opens, belongs to this address, and signs',
  remote: 'the remote signer answers, has the key of this address, and signs',
  'aws-kms': 'AWS KMS answers, its key belongs to this address, and signs',
  environment: warn(
    'the key is in an environment variable; it signs',
    'For anything of value: portage keystore import, a remote signer or AWS KMS.',
  ),
}
