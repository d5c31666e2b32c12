import type { NodeClient } from './node-client.ts'
import { type ReadAnswer, type RpcError, TransportError } from './node-errors.ts'

/** chainlink-evm: once one node has answered, the others have 5 s. */
const graceMs = 5_000

/** What one of several nodes said; `node` is its origin. */
export type NodeAnswer<T> =
  | { readonly node: string; readonly name: string; readonly ok: true; readonly result: T }
  | { readonly node: string; readonly name: string; readonly ok: false; readonly error: RpcError | TransportError }

/** Gets each answer as it comes and ends the wait by returning true. */
export type OnAnswer<T> = (answer: NodeAnswer<T>, answers: readonly NodeAnswer<T>[]) => boolean

/** A call, and how its answer is read. */
export interface Call<T> {
  readonly method: string
  readonly params: readonly unknown[]
  readonly read: ReadAnswer<T>
}

export interface AskManyOptions {
  /** Longest wait for one answer, ms. */
  readonly timeoutMs: number
  /** Longest wait for the others, ms, once so many (`needed`) have answered; before that the usual grace holds: who is quick does not answer for the slow. */
  readonly mostGraceMs?: number | undefined
  readonly needed?: number | undefined
}

/** Asks several nodes at once. Ends when all have answered, `onAnswer` has enough, or the grace after the first answer is over. Throws never. */
export async function askMany<T>(
  nodes: readonly NodeClient[],
  { method, params, read }: Call<T>,
  { timeoutMs, mostGraceMs, needed = 1 }: AskManyOptions,
  onAnswer?: OnAnswer<T>,
): Promise<NodeAnswer<T>[]> {
  const answers: NodeAnswer<T>[] = []
  const timers: NodeJS.Timeout[] = []
  let answered = 0
  let enough = (): void => undefined
  const early = new Promise<void>((resolve) => (enough = resolve))
  const each = nodes.map(async (node) => {
    const answer = await ask(node, method, params, read)
    answers.push(answer)
    if (onAnswer?.(answer, answers)) enough()
    if (!answer.ok || answers.length === nodes.length) return
    answered++
    if (answered === 1) timers.push(setTimeout(enough, Math.min(graceMs, timeoutMs)))
    if (answered === needed && mostGraceMs !== undefined) timers.push(setTimeout(enough, Math.min(mostGraceMs, timeoutMs)))
  })
  await Promise.race([Promise.all(each), early])
  for (const timer of timers) clearTimeout(timer)
  return [...answers]
}

async function ask<T>(node: NodeClient, method: string, params: readonly unknown[], read: ReadAnswer<T>): Promise<NodeAnswer<T>> {
  const who = { node: node.origin, name: node.spec.name }
  try {
    if (!node.up) await node.check()
    if (!node.up) throw new TransportError(node.origin, 'of another network, or taken out', false)
    return { ...who, ok: true, result: await node.ask(method, params, read) }
  } catch (error) {
    return { ...who, ok: false, error: error as RpcError | TransportError }
  }
}
