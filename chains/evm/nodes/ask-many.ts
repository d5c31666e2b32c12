import type { NodeClient } from './node-client.ts'
import { type RpcError, TransportError } from './node-errors.ts'

/** chainlink-evm: once one node has answered, the others have 5 s. */
const graceMs = 5_000

/** What one of several nodes said. */
export type NodeAnswer =
  | { readonly node: string; readonly ok: true; readonly result: unknown }
  | { readonly node: string; readonly ok: false; readonly error: RpcError | TransportError }

/** Gets each answer as it comes and ends the wait by returning true. */
export type OnAnswer = (answer: NodeAnswer, answers: readonly NodeAnswer[]) => boolean

export interface Question {
  readonly method: string
  readonly params: readonly unknown[]
  /** Longest wait for one answer, ms. */
  readonly timeoutMs: number
  readonly onAnswer?: OnAnswer | undefined
}

/** Asks several nodes at once. Ends when all have answered, `onAnswer` has enough, or the grace after the first answer is over. Throws never. */
export async function askMany(nodes: readonly NodeClient[], { method, params, timeoutMs, onAnswer }: Question): Promise<NodeAnswer[]> {
  const answers: NodeAnswer[] = []
  let grace: NodeJS.Timeout | undefined
  let enough = (): void => undefined
  const early = new Promise<void>((resolve) => (enough = resolve))
  const each = nodes.map(async (node) => {
    const asked = node.up ? node.ask(method, params) : node.check().then(() => askIfUp(node, method, params))
    const answer = await asked.then(
      (result): NodeAnswer => ({ node: node.origin, ok: true, result }),
      (error): NodeAnswer => ({ node: node.origin, ok: false, error: error as RpcError | TransportError }),
    )
    answers.push(answer)
    if (onAnswer?.(answer, answers)) enough()
    if (answer.ok && answers.length < nodes.length) grace ??= setTimeout(enough, Math.min(graceMs, timeoutMs))
  })
  await Promise.race([Promise.all(each), early])
  clearTimeout(grace)
  return [...answers]
}

function askIfUp(node: NodeClient, method: string, params: readonly unknown[]): Promise<unknown> {
  if (node.up) return node.ask(method, params)
  throw new TransportError(node.origin, 'of another network, or taken out', false)
}
