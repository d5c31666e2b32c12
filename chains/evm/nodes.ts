import { setTimeout as sleep } from 'node:timers/promises'
import { RelayerError } from '../../domain/errors.ts'
import { toNumber } from './hex.ts'
import { createNode, type Node, RpcError, type TransportError } from './node.ts'

/** Calls of one tick leave together; 5 ms also gathers those that a head event has set off. */
const stallMs = 5
/** chainlink-evm's smallest default (Polygon): every provider takes it. */
const maxBatch = 100
/** chainlink-evm: RPC 10 s; once one node has answered, the others have 5 s. */
const timeoutMs = 10_000
const graceMs = 5_000
const minBackoffMs = 1_000
const maxBackoffMs = 30_000
/** chainlink-evm SyncThreshold: a node more blocks than this behind the best is asked last. */
const mostLag = 5
/** A reset of an idle connection must not fail a call where there is only one node. */
const secondRoundMs = 150

export interface NodesOptions {
  readonly chain: string
  /** EIP-155 id, decimal. */
  readonly networkId: string
  readonly urls: readonly string[]
  readonly timeoutMs?: number
}

/** What one of several nodes said. */
export type NodeAnswer =
  | { readonly node: string; readonly ok: true; readonly result: unknown }
  | { readonly node: string; readonly ok: false; readonly error: RpcError | TransportError }

export interface Nodes {
  /** Asks every node for its network. Throws CHAIN_ID_MISMATCH if one is of another, NODE_UNAVAILABLE if none answers. */
  verify(): Promise<void>
  /** From the first healthy node, else the next. Throws RpcError (NODE_REFUSED) or NODE_UNAVAILABLE. */
  request(method: string, params: readonly unknown[]): Promise<unknown>
  /** From every node that is up, at once; `onAnswer` sees each as it comes and ends the wait by returning true. Throws never. */
  requestAll(method: string, params: readonly unknown[], onAnswer?: (answer: NodeAnswer) => boolean): Promise<readonly NodeAnswer[]>
  /** Compares the heads of all nodes and puts those that lag behind last. Throws never. */
  rank(): Promise<void>
  /** Calls made so far, by method. */
  readonly calls: ReadonlyMap<string, number>
  close(): void
}

interface Member {
  readonly node: Node
  /** `unknown`: its network was never checked, so nothing is read from it. `foreign`: of another network, never used. */
  state: 'unknown' | 'up' | 'down' | 'foreign'
  verified: boolean
  lagging: boolean
  failures: number
  /** When a node that is not up is tried again, ms since the epoch. */
  retryAt: number
}

export function createNodes(options: NodesOptions): Nodes {
  const calls = new Map<string, number>()
  const closing = new AbortController()
  const count = (method: string) => void calls.set(method, (calls.get(method) ?? 0) + 1)
  const members = options.urls.map((url): Member => {
    const node = createNode({ url, timeoutMs: options.timeoutMs ?? timeoutMs, stallMs, maxBatch, count })
    return { node, state: 'unknown', verified: false, lagging: false, failures: 0, retryAt: 0 }
  })

  async function ask(member: Member, method: string, params: readonly unknown[]): Promise<unknown> {
    try {
      const result = await member.node.request(method, params)
      answered(member)
      return result
    } catch (error) {
      if (error instanceof RpcError) answered(member)
      else if (!closing.signal.aborted) failed(member)
      throw error
    }
  }

  function answered(member: Member): void {
    member.failures = 0
    if (member.verified && member.state === 'down') member.state = 'up'
  }

  function failed(member: Member): void {
    member.failures++
    if (member.state === 'up') member.state = 'down'
    member.retryAt = Date.now() + Math.min(maxBackoffMs, minBackoffMs * 2 ** Math.min(member.failures - 1, 10))
  }

  /** Reads the network of a node: the door to `up`, for new nodes and for those that were down. Throws as `request` does. */
  async function check(member: Member): Promise<string> {
    const found = String(toNumber(await ask(member, 'eth_chainId', []), 'chain id'))
    member.verified = found === options.networkId
    member.state = member.verified ? 'up' : 'foreign'
    return found
  }

  /** Nodes that are down are tried beside the real calls, so that no call waits for a dead node twice. */
  function probe(): void {
    const now = Date.now()
    for (const member of members) {
      if ((member.state !== 'down' && member.state !== 'unknown') || member.retryAt > now) continue
      member.retryAt = now + maxBackoffMs
      check(member).catch(() => undefined)
    }
  }

  async function round(method: string, params: readonly unknown[], problems: Error[]): Promise<{ result: unknown } | undefined> {
    const up = members.filter((member) => member.state === 'up')
    const ordered = [...up.filter((member) => !member.lagging), ...up.filter((member) => member.lagging)]
    for (const member of ordered) {
      try {
        return { result: await ask(member, method, params) }
      } catch (error) {
        problems.push(error as Error)
        if (error instanceof RpcError && !mayDiffer(error)) throw error
      }
    }
    if (up.length > 0) return undefined
    const down = members.filter((member) => member.verified)
    try {
      return { result: await Promise.any(down.map((member) => ask(member, method, params))) }
    } catch (error) {
      problems.push(...((error as AggregateError).errors as Error[]))
      return undefined
    }
  }

  return {
    calls,
    async verify() {
      const found = await Promise.allSettled(members.map(check))
      const foreign = members.findIndex((member) => member.state === 'foreign')
      const actual = found[foreign]
      if (foreign >= 0 && actual?.status === 'fulfilled') {
        const facts = { chain: options.chain, node: members[foreign]?.node.origin, expected: options.networkId, actual: actual.value }
        throw new RelayerError('CHAIN_ID_MISMATCH', { facts })
      }
      if (members.some((member) => member.state === 'up')) return
      throw unavailable(
        options.chain,
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
      throw unavailable(options.chain, problems)
    },
    async requestAll(method, params, onAnswer) {
      probe()
      const up = members.filter((member) => member.state === 'up')
      // Nodes that are down are tried beside the calls (probe); here they would only make everyone wait.
      const asked = up.length > 0 ? up : members.filter((member) => member.verified)
      const answers: NodeAnswer[] = []
      let grace: NodeJS.Timeout | undefined
      let enough = (): void => undefined
      const early = new Promise<void>((resolve) => (enough = resolve))
      const each = asked.map(async (member) => {
        const answer = await ask(member, method, params).then(
          (result): NodeAnswer => ({ node: member.node.origin, ok: true, result }),
          (error): NodeAnswer => ({ node: member.node.origin, ok: false, error: error as RpcError | TransportError }),
        )
        answers.push(answer)
        if (onAnswer?.(answer)) enough()
        if (answer.ok && answers.length < asked.length) grace ??= setTimeout(enough, graceMs)
      })
      await Promise.race([Promise.all(each), early])
      clearTimeout(grace)
      return [...answers]
    },
    async rank() {
      const up = members.filter((member) => member.state === 'up')
      if (up.length < 2) return
      const read = up.map((member) => ask(member, 'eth_blockNumber', []).then((height) => toNumber(height, 'block number')))
      const heights = (await Promise.allSettled(read)).map((answer) => (answer.status === 'fulfilled' ? answer.value : 0))
      const highest = Math.max(...heights)
      for (const [index, member] of up.entries()) member.lagging = (heights[index] ?? 0) < highest - mostLag
    },
    close() {
      closing.abort()
      for (const member of members) member.node.close()
    },
  }
}

/**
 * Could another node answer this better? Limits (−32005), methods that are not served (−32601, −32004), internal errors (−32603) and blocks or
 * states that this node does not have; a revert is the chain's word and the same everywhere.
 */
function mayDiffer(error: RpcError): boolean {
  const message = error.rpcMessage.toLowerCase()
  if (message.includes('revert')) return false
  if (error.rpcCode === -32005 || error.rpcCode === -32601 || error.rpcCode === -32004 || error.rpcCode === -32603) return true
  return /rate limit|too many requests|header not found|unknown block|block not found|missing trie node|outofrange|not available|pruned|syncing/.test(
    message,
  )
}

function unavailable(chain: string, problems: readonly Error[]): RelayerError {
  const reasons = [...new Set(problems.map((problem) => problem.message))].join('; ')
  return new RelayerError('NODE_UNAVAILABLE', { detail: reasons || 'The chain is not connected.', facts: { chain } })
}
