import { setTimeout as sleep } from 'node:timers/promises'
import { RelayerError } from '../../../domain/errors.ts'
import type { NodeChange } from '../../../domain/settings/settings.ts'
import type { NodeStatus } from '../../port.ts'
import { toNumber } from '../hex.ts'
import { lagsOf } from './head-lags.ts'
import type { NodeClient, NodeSpec } from './node-client.ts'
import { RpcError, TransportError } from './node-errors.ts'
import { createNodeSet } from './node-set.ts'

/** chainlink-evm: RPC 10 s; once one node has answered, the others have 5 s. */
const defaultTimeoutMs = 10_000
const graceMs = 5_000
/** chainlink-evm SyncThreshold: a node more blocks than this behind the best is asked last. */
const mostLag = 5
/** A reset of an idle connection must not fail a call where there is only one node. */
const secondRoundMs = 150

export interface NodesOptions {
  readonly chain: string
  /** EIP-155 id, decimal. */
  readonly networkId: string
  /** In order of preference. */
  readonly nodes: readonly NodeSpec[]
  /** `private`: transactions go to private nodes only. */
  readonly send?: 'public' | 'private' | undefined
  readonly timeoutMs?: number | undefined
  /** What `${VARIABLE}` in the URL of an added node stands for; absent: no variable is known. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
}

/** What one of several nodes said. */
export type NodeAnswer =
  | { readonly node: string; readonly ok: true; readonly result: unknown }
  | { readonly node: string; readonly ok: false; readonly error: RpcError | TransportError }

/** Sees each answer as it comes and ends the wait by returning true. */
type OnAnswer = (answer: NodeAnswer, answers: readonly NodeAnswer[]) => boolean

export interface Nodes {
  /** Asks every node for its network. Throws CHAIN_ID_MISMATCH if one is of another, NODE_UNAVAILABLE if none that reads answers. */
  verify(): Promise<void>
  /** From the first node that reads, is up, does not lag and is within its rate; else the next. Throws RpcError (NODE_REFUSED) or NODE_UNAVAILABLE. */
  request(method: string, params: readonly unknown[]): Promise<unknown>
  /** From the nodes that read, at once: those that are up, and, where those are not more than half, also those that are not. Throws never. */
  askAll(method: string, params: readonly unknown[], onAnswer?: OnAnswer): Promise<readonly NodeAnswer[]>
  /** To every node that transactions of this chain go to. Throws never. */
  sendAll(method: string, params: readonly unknown[], onAnswer?: OnAnswer): Promise<readonly NodeAnswer[]>
  /** How many nodes are meant to read: what a majority is counted of. */
  readonly readers: number
  /** Compares the heads of all nodes and puts those that lag behind last, or are absurdly far above `known`. Throws never. */
  rank(known?: number): Promise<void>
  status(): readonly NodeStatus[]
  adjust(changes: readonly NodeChange[]): void
  /** Calls made so far, by method. */
  readonly calls: ReadonlyMap<string, number>
  close(): void
}

export function createNodes(options: NodesOptions): Nodes {
  const { chain, networkId, timeoutMs = defaultTimeoutMs } = options
  const calls = new Map<string, number>()
  const closing = new AbortController()
  const count = (method: string) => void calls.set(method, (calls.get(method) ?? 0) + 1)
  const set = createNodeSet({ networkId, specs: options.nodes, timeoutMs, count, environment: options.environment ?? {} })
  const sendUses = options.send === 'private' ? ['private'] : ['all', 'send']

  const readers = () => set.members.filter(({ reads }) => reads)
  const senders = () => set.members.filter(({ spec }) => sendUses.includes(spec.use))

  /** Nodes that are down are tried beside the calls, so that no call waits for a dead node twice. */
  function probe(): void {
    for (const member of set.members) if (member.due) member.check().catch(() => undefined)
  }

  /** Brings back any of these nodes, where none is up: no pause counts then, but the one that a node asked for. */
  async function revive(members: readonly NodeClient[], problems: Error[]): Promise<void> {
    const checks = members.filter(({ revivable }) => revivable).map((member) => member.check())
    if (checks.length === 0) problems.push(...members.map(({ origin }) => new Error(`${origin}: failed, and is left alone for now`)))
    await Promise.any(checks).catch((error: AggregateError) => problems.push(...(error.errors as Error[])))
  }

  async function round(method: string, params: readonly unknown[], problems: Error[]): Promise<{ result: unknown } | undefined> {
    if (!readers().some(({ up }) => up)) await revive(readers(), problems)
    const tried = new Set<NodeClient>()
    for (;;) {
      const member = choose(readers().filter((candidate) => candidate.up && !tried.has(candidate)))
      if (!member) return undefined
      tried.add(member)
      if (member.waitMs > timeoutMs) {
        problems.push(new Error(`${member.origin}: over its ${member.spec.requestsPerSecond} requests per second`))
        continue
      }
      try {
        return { result: await member.ask(method, params) }
      } catch (error) {
        problems.push(error as Error)
        if (error instanceof RpcError && !mayDiffer(error)) throw error
      }
    }
  }

  /** Asks several nodes at once; the wait ends when all have answered, `onAnswer` has enough, or the grace after the first answer is over. */
  async function gather(
    members: readonly NodeClient[],
    method: string,
    params: readonly unknown[],
    onAnswer?: OnAnswer,
  ): Promise<NodeAnswer[]> {
    const answers: NodeAnswer[] = []
    let grace: NodeJS.Timeout | undefined
    let enough = (): void => undefined
    const early = new Promise<void>((resolve) => (enough = resolve))
    const each = members.map(async (member) => {
      const asked = member.up ? member.ask(method, params) : member.check().then(() => askIfUp(member, method, params))
      const answer = await asked.then(
        (result): NodeAnswer => ({ node: member.origin, ok: true, result }),
        (error): NodeAnswer => ({ node: member.origin, ok: false, error: error as RpcError | TransportError }),
      )
      answers.push(answer)
      if (onAnswer?.(answer, answers)) enough()
      if (answer.ok && answers.length < members.length) grace ??= setTimeout(enough, Math.min(graceMs, timeoutMs))
    })
    await Promise.race([Promise.all(each), early])
    clearTimeout(grace)
    return [...answers]
  }

  function askIfUp(member: NodeClient, method: string, params: readonly unknown[]): Promise<unknown> {
    if (member.up) return member.ask(method, params)
    throw new TransportError(member.origin, 'of another network, or taken out', false)
  }

  return {
    calls,
    get readers() {
      return readers().length
    },
    async verify() {
      const { members } = set
      const found = await Promise.allSettled(members.map((member) => member.check()))
      const foreign = members.findIndex((member) => member.foreign)
      const actual = found[foreign]
      if (actual?.status === 'fulfilled') {
        const facts = { chain, node: members[foreign]?.origin, expected: networkId, actual: actual.value }
        throw new RelayerError('CHAIN_ID_MISMATCH', { facts })
      }
      if (readers().some(({ up }) => up)) return
      throw unavailable(
        chain,
        found.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : [])),
      )
    },
    async request(method, params) {
      probe()
      const problems: Error[] = []
      for (const attempt of [0, 1]) {
        const answer = await round(method, params, problems)
        if (answer) return answer.result
        const refusal = problems.findLast((problem) => problem instanceof RpcError)
        if (refusal) throw refusal
        if (attempt === 0 && !closing.signal.aborted)
          await sleep(secondRoundMs, undefined, { signal: closing.signal }).catch(() => undefined)
        if (closing.signal.aborted) break
      }
      throw unavailable(chain, problems)
    },
    askAll(method, params, onAnswer) {
      probe()
      const all = readers()
      const up = all.filter((member) => member.up)
      const others = all.filter((member) => !member.up && member.revivable)
      return gather(up.length * 2 > all.length ? up : [...up, ...others], method, params, onAnswer)
    },
    sendAll(method, params, onAnswer) {
      probe()
      const all = senders()
      const up = all.filter((member) => member.up)
      return gather(up.length > 0 ? up : all.filter(({ revivable }) => revivable), method, params, onAnswer)
    },
    async rank(known) {
      const up = readers().filter((member) => member.up)
      if (up.length < 2) {
        for (const member of up) member.lag = undefined
        return
      }
      const read = up.map((member) => member.ask('eth_blockNumber', []).then((height) => toNumber(height, 'block number')))
      const heights = (await Promise.allSettled(read)).map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))
      const lags = lagsOf(heights, readers().length, known)
      for (const [index, member] of up.entries()) member.lag = lags[index] ?? member.lag
    },
    status: () => set.status(),
    adjust(changes) {
      set.adjust(changes)
      if (!closing.signal.aborted) probe()
    },
    close() {
      closing.abort()
      set.close()
    },
  }
}

/** By order, those that lag last; who is over its rate waits for its turn only if all are. */
function choose(candidates: readonly NodeClient[]): NodeClient | undefined {
  const lags = ({ lag = 0 }: NodeClient) => lag > mostLag
  const ordered = [...candidates.filter((member) => !lags(member)), ...candidates.filter(lags)]
  const [least] = ordered.map(({ waitMs }) => waitMs).sort((a, b) => a - b)
  return ordered.find(({ waitMs }) => waitMs === 0) ?? ordered.find(({ waitMs }) => waitMs <= (least ?? 0)) ?? ordered[0]
}

/**
 * Could another node answer this better? Limits (−32005), methods that are not served (−32601, −32004), internal errors (−32603) and blocks or
 * states that this node does not have; a revert is the chain's word and the same everywhere.
 */
function mayDiffer(error: RpcError): boolean {
  const message = error.rpcMessage.toLowerCase()
  if (message.includes('revert')) return false
  if (error.limited) return true
  if (error.rpcCode === -32005 || error.rpcCode === -32601 || error.rpcCode === -32004 || error.rpcCode === -32603) return true
  return /header not found|unknown block|block not found|missing trie node|outofrange|not available|pruned|syncing/.test(message)
}

function unavailable(chain: string, problems: readonly Error[]): RelayerError {
  const reasons = [...new Set(problems.map((problem) => problem.message))].join('; ')
  return new RelayerError('NODE_UNAVAILABLE', { detail: reasons || 'The chain is not connected.', facts: { chain } })
}
