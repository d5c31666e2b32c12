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

/** Asks several nodes at once. Ends when all have answered, `onAnswer` has enough, or the grace after the first answer is over. Throws never. */
export async function askMany(
  nodes: readonly NodeClient[],
  method: string,
  params: readonly unknown[],
  timeoutMs: number,
  onAnswer?: OnAnswer,
): Promise<NodeAnswer[]> {
  const answers: NodeAnswer[] = []
  let grace: NodeJS.Timeout | undefined
  let enough = (): void => undefined
  const early = new Promise<void>((resolve) => (enough = resolve))
  const each = nodes.map(async (node) => {
    const answer = await ask(node, method, params)
    answers.push(answer)
    if (onAnswer?.(answer, answers)) enough()
    if (answer.ok && answers.length < nodes.length) grace ??= setTimeout(enough, Math.min(graceMs, timeoutMs))
  })
  await Promise.race([Promise.all(each), early])
  clearTimeout(grace)
  return [...answers]
}

async function ask(node: NodeClient, method: string, params: readonly unknown[]): Promise<NodeAnswer> {
  try {
    if (!node.up) await node.check()
    if (!node.up) throw new TransportError(node.origin, 'of another network, or taken out', false)
    return { node: node.origin, ok: true, result: await node.ask(method, params) }
  } catch (error) {
    return { node: node.origin, ok: false, error: error as RpcError | TransportError }
  }
}
