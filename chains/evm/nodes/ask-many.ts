import { pause } from '../../../runtime/wait.ts'
import type { NodeClient } from './node-client.ts'
import { type ReadAnswer, type RpcError, TransportError } from './node-errors.ts'

/** chainlink-evm: once one node has answered, the others have 5 s. */
const graceMs = 5_000

/** `node` is its origin. */
export type NodeAnswer<T> =
  | { readonly node: string; readonly name: string; readonly ok: true; readonly result: T }
  | { readonly node: string; readonly name: string; readonly ok: false; readonly error: RpcError | TransportError }

/** True ends the wait. */
export type OnAnswer<T> = (answer: NodeAnswer<T>, answers: readonly NodeAnswer<T>[]) => boolean

export interface Call<T> {
  readonly method: string
  readonly params: readonly unknown[]
  readonly read: ReadAnswer<T>
}

export function resultsOf<T>(answers: readonly NodeAnswer<T>[]): T[] {
  return answers.flatMap((answer) => (answer.ok ? [answer.result] : []))
}

/**
 * Ends when all have answered, `onAnswer` is satisfied, or a grace is over. Never throws.
 * @param mostGraceMs longest wait for the others from `needed` answers on. The usual grace starts with the first answer
 */
export async function askMany<T>(
  nodes: readonly NodeClient[],
  call: Call<T>,
  timeoutMs: number,
  onAnswer?: OnAnswer<T>,
  mostGraceMs?: number,
  needed = 1,
): Promise<NodeAnswer<T>[]> {
  const answers: NodeAnswer<T>[] = []
  const ended = new AbortController()
  const end = () => ended.abort()
  const endAfter = (ms: number) => void pause(Math.min(ms, timeoutMs), ended.signal).then(end)
  let answered = 0
  const each = nodes.map(async (node) => {
    const answer = await ask(node, call)
    answers.push(answer)
    if (onAnswer?.(answer, answers)) end()
    if (!answer.ok || answers.length === nodes.length) return
    answered++
    if (answered === 1) endAfter(graceMs)
    if (answered === needed && mostGraceMs !== undefined) endAfter(mostGraceMs)
  })
  await Promise.race([Promise.all(each), pause(Infinity, ended.signal)])
  end()
  return [...answers]
}

async function ask<T>(node: NodeClient, { method, params, read }: Call<T>): Promise<NodeAnswer<T>> {
  const who = { node: node.origin, name: node.spec.name }
  try {
    if (!node.up) await node.check()
    if (!node.up) throw new TransportError(node.origin, 'of another network, or removed', false)
    return { ...who, ok: true, result: await node.ask(method, params, read) }
  } catch (error) {
    return { ...who, ok: false, error: error as RpcError | TransportError }
  }
}
