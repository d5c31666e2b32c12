import type { SendErrorClass, SendOutcome } from '../../port.ts'
import { toHash } from '../hex.ts'
import type { Classify } from './error-classes.ts'
import { RpcError } from '../nodes/node-errors.ts'
import type { NodeAnswer, Nodes } from '../nodes/nodes.ts'

/**
 * Order of refusals. A silent node may hold the transaction, so silence wins over all that frees, holds or re-prices.
 * Statements about the nonce win over silence. `fatal` wins only if no node says anything else.
 */
const order: readonly SendErrorClass[] = [
  'nonce-too-low',
  'own-nonce-used',
  'replacement-underpriced',
  'ambiguous',
  'underpriced',
  'pool-limit',
  'nonce-too-high',
  'insufficient-funds',
  'fee-cap',
  'terminally-stuck',
  'fatal',
]

/** Ends when one node takes it, or all have answered or timed out. Never throws. */
export async function sendRaw(nodes: Nodes, classify: Classify, raw: string): Promise<SendOutcome> {
  const outcomes: { outcome: SendOutcome; reached: boolean }[] = []
  await nodes.sendAll('eth_sendRawTransaction', [raw], readSent, (answer) => {
    const outcome = readAnswer(answer, classify)
    outcomes.push({ outcome, reached: answer.ok || answer.error instanceof RpcError || answer.error.maybeReceived })
    return outcome.kind !== 'refused'
  })
  const taken = outcomes.find(({ outcome }) => outcome.kind === 'accepted') ?? outcomes.find(({ outcome }) => outcome.kind === 'known')
  if (taken) return taken.outcome
  // An unreached node does not count, unless none was reached.
  const reached = outcomes.filter((answer) => answer.reached)
  const said = (reached.length > 0 ? reached : outcomes).flatMap(({ outcome }) => (outcome.kind === 'refused' ? [outcome] : []))
  const [best] = said.toSorted((a, b) => order.indexOf(a.error) - order.indexOf(b.error))
  return best ?? refused('ambiguous', 'No node of the chain took the transaction.')
}

const readSent = (value: unknown) => toHash(value, 'transaction hash')

function readAnswer(answer: NodeAnswer<string>, classify: Classify): SendOutcome {
  if (answer.ok) return { kind: 'accepted' }
  if (!(answer.error instanceof RpcError)) return refused('ambiguous', answer.error.message)
  const error = classify(answer.error.rpcMessage, answer.error.rpcCode)
  return error === 'already-known' ? { kind: 'known' } : refused(error, answer.error.rpcMessage)
}

function refused(error: SendErrorClass, message: string): SendOutcome & { kind: 'refused' } {
  return { kind: 'refused', error, message }
}
