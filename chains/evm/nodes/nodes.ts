import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { resolveNodeUrl } from '../../../domain/settings/request.ts'
import type { NodeChange } from '../../../domain/settings/settings.ts'
import { toNumber } from '../hex.ts'
import { askMany, createAskOne, type OnAnswer, unavailable } from './ask.ts'
import { comparedHeight, lagOf } from '../../heads.ts'
import { createNodeClient, type NodeClient, type NodeSpec } from './node-client.ts'
import type { ReadAnswer } from './node-errors.ts'
import type { NodeStatus } from '../../port.ts'

export type { NodeAnswer } from './ask.ts'

/** As in chainlink-evm. */
const defaultTimeoutMs = 10_000

export interface NodesOptions {
  readonly name: string
  /** EIP-155 id, decimal. */
  readonly networkId: string
  readonly nodes: readonly NodeSpec[]
  /** `private`: transactions go only to nodes whose use is `private`. Default: public. */
  readonly send?: 'public' | 'private' | undefined
  readonly timeoutMs?: number | undefined
  /** Values of `${VARIABLE}` in URLs of added nodes. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
}

export type Nodes = ReturnType<typeof createNodes>

export function createNodes({ name, networkId, nodes, send, timeoutMs = defaultTimeoutMs, environment = {} }: NodesOptions) {
  const callsByNode = new Map<string, Map<string, number>>()
  const closing = new AbortController()
  const make = (spec: NodeSpec) => {
    // A node that is added again under its old name continues its counts.
    const calls = callsByNode.get(spec.name) ?? new Map<string, number>()
    callsByNode.set(spec.name, calls)
    return createNodeClient(spec, networkId, timeoutMs, (method) => calls.set(method, (calls.get(method) ?? 0) + 1))
  }
  const set = createNodeSet(nodes, make, environment)
  const sendUses = send === 'private' ? ['private'] : ['all', 'send']
  /** Majorities count all reading nodes of the config, even disabled ones, so that settings cannot shift majorities. */
  const voters = set.configured.filter(({ reads }) => reads)
  /** Added nodes come last. No node is read while all reading nodes of the config are disabled. */
  const readers = () => (voters.some(({ disabled }) => !disabled) ? set.enabled.filter(({ reads }) => reads) : [])
  const senders = () => set.enabled.filter(({ spec }) => sendUses.includes(spec.use))
  const needed = Math.floor(voters.length / 2) + 1
  const askOne = createAskOne(name, readers, timeoutMs, closing.signal)

  /** Checks due nodes in parallel with calls, so that no call waits for a node that is still dead. */
  function probe(): void {
    for (const node of set.enabled) if (node.due) node.check().catch(() => undefined)
  }

  return {
    callsByNode,
    /** The number of voters. A disabled voter counts as one that does not answer. */
    readers: voters.length,
    voterNames: voters.map(({ spec }) => spec.name),
    needed,
    /** Throws CHAIN_ID_MISMATCH, and NODE_UNAVAILABLE if no reading node answers. */
    verify: () => verify(set.enabled, name, networkId),
    /** Asks one node and, after a failure, the next. Throws RpcError, the error of `read`, or NODE_UNAVAILABLE. */
    request<T>(method: string, params: readonly unknown[], read: ReadAnswer<T>): Promise<T> {
      probe()
      return askOne({ method, params, read })
    },
    /**
     * Asks the voters that are up, and the other voters if too few are up. Never throws.
     * @param mostGraceMs longest wait once more than half have answered. Default: 5 s after the first answer
     */
    askAll<T>(method: string, params: readonly unknown[], read: ReadAnswer<T>, onAnswer?: OnAnswer<T>, mostGraceMs?: number) {
      probe()
      const up = voters.filter((node) => node.up)
      const others = voters.filter((node) => !node.up && !node.disabled && node.revivable)
      const asked = up.length * 2 > voters.length ? up : [...up, ...others]
      return askMany(asked, { method, params, read }, timeoutMs, onAnswer, mostGraceMs, needed)
    },
    /** Sends a request to every node that takes transactions. Never throws. */
    sendAll<T>(method: string, params: readonly unknown[], read: ReadAnswer<T>, onAnswer?: OnAnswer<T>) {
      probe()
      const all = senders()
      const up = all.filter((node) => node.up)
      return askMany(up.length > 0 ? up : all.filter(({ revivable }) => revivable), { method, params, read }, timeoutMs, onAnswer)
    },
    /** Ranks the nodes. A node that lags, or is far above the majority, comes last. `known`: our head. Never throws. */
    rank: (known?: number) => rank(readers(), voters, known),
    status: set.status,
    adjust(changes: readonly NodeChange[]) {
      set.adjust(changes)
      if (!closing.signal.aborted) probe()
    },
    close() {
      closing.abort()
      set.close()
    },
  }
}

async function verify(nodes: readonly NodeClient[], chain: string, expected: string): Promise<void> {
  const found = await Promise.allSettled(nodes.map((node) => node.check()))
  const wrong = nodes.findIndex((node) => node.status().state === 'wrong-network')
  const actual = found[wrong]
  if (actual?.status === 'fulfilled') {
    throw new RelayerError('CHAIN_ID_MISMATCH', { facts: { chain, node: nodes[wrong]?.origin, expected, actual: actual.value } })
  }
  if (nodes.some(({ reads, up }) => reads && up)) return
  const problems = found.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []))
  throw unavailable(chain, problems)
}

async function rank(readers: readonly NodeClient[], voters: readonly NodeClient[], known: number | undefined): Promise<void> {
  const up = readers.filter((node) => node.up)
  if (up.length < 2) {
    for (const node of up) node.lag = undefined
    return
  }
  const read = up.map((node) => node.ask('eth_blockNumber', [], (height) => toNumber(height, 'block number')))
  const found = (await Promise.allSettled(read)).map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))
  const heights = new Map(up.map((node, index) => [node, found[index]]))
  const told = voters.map((node) => heights.get(node))
  const reached = comparedHeight(told, voters.length, known)
  for (const [node, height] of heights) node.lag = lagOf(height, reached) ?? node.lag
}

type Environment = Readonly<Record<string, string | undefined>>

function createNodeSet(specs: readonly NodeSpec[], make: (spec: NodeSpec) => NodeClient, environment: Environment) {
  const configured = specs.map(make)
  const names = new Set(specs.map(({ name }) => name))
  let added: readonly NodeClient[] = []
  /** Includes removed nodes, which may still answer. */
  const made = [...configured]
  let broken: readonly NodeStatus[] = []

  function setDisabled(node: NodeClient, disabled: boolean): void {
    if (node.disabled && !disabled) node.forget()
    node.disabled = disabled
  }

  return {
    get enabled(): readonly NodeClient[] {
      return [...configured, ...added].filter(({ disabled }) => !disabled)
    },
    configured: configured as readonly NodeClient[],
    /** See `Chain.adjustNodes`. Nodes that a change does not concern keep their state and calls. */
    adjust(changes: readonly NodeChange[]) {
      const byName = new Map(changes.map((change) => [change.name, change]))
      for (const node of configured) setDisabled(node, byName.get(node.spec.name)?.disabled ?? false)
      const unusable: NodeStatus[] = []
      const next = [...byName.values()].flatMap((change) => {
        if (names.has(change.name) || change.url === undefined) return []
        const { name, use = 'all' } = change
        const resolved = resolveNodeUrl(change.url, environment)
        if ('problem' in resolved) {
          unusable.push({ name, origin: resolved.problem, use, state: change.disabled ? 'disabled' : 'unknown', failures: 0, added: true })
          return []
        }
        const same = added.find(({ spec }) => spec.name === name && spec.url === resolved.url && spec.use === use)
        const node = same ?? make({ name, url: resolved.url, use, added: true })
        if (!same) made.push(node)
        setDisabled(node, change.disabled)
        return [node]
      })
      added = next
      broken = unusable
    },
    status: (): readonly NodeStatus[] => [...[...configured, ...added].map((node) => node.status()), ...broken],
    close() {
      for (const node of made) node.close()
    },
  }
}
