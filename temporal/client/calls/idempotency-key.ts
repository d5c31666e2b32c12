import { createHash } from 'node:crypto'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import {
  answeredSignal,
  type IdempotencyKeyInput,
  idempotencyKeyId,
  type KeptAnswer,
  requestMark,
} from '../../contracts/idempotency-key.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { rethrowAs } from '../connection/errors.ts'
import { startUnlessTaken } from './workflow-calls.ts'

/** `first`: the key is new, or its earlier request has no answer. The caller must then call `answer`. */
export type KeyClaim =
  | { readonly kind: 'first'; answer(answer: KeptAnswer): Promise<void> }
  | Extract<KeptAnswer, { readonly kind: 'answered' }>

const workMs = 90_000
/**
 * Limit of the workflow that holds a key. The server enforces it even without a worker, so no key stays taken for ever.
 */
const longestRun = '10 minutes'
const answerWaitMs = 5_000
const serverTimeoutMs = 10_000

/**
 * Claims a key for a request. `key`: sender, route and the client's key. Throws IDEMPOTENCY_KEY_* and
 * TEMPORAL_UNAVAILABLE.
 */
export async function claimKey(
  client: TemporalClient,
  { key, request }: { readonly key: readonly string[]; readonly request: unknown },
  waitMs = answerWaitMs,
): Promise<KeyClaim> {
  const id = idempotencyKeyId(sha256(JSON.stringify(key)))
  const mark = sha256(JSON.stringify(request))
  if (await start(client, id, mark, 'REJECT_DUPLICATE')) return first(client, id)
  const handle = client.workflow.getHandle(id)
  const describe = () => within(client, serverTimeoutMs, () => handle.describe()).catch(rethrowAs({}))
  const { memo } = await describe()
  if (memo?.[requestMark] !== mark) throw new RelayerError('IDEMPOTENCY_KEY_REUSED')
  const kept = await within(client, waitMs, () => handle.result() as Promise<KeptAnswer>).catch(() => undefined)
  if (kept?.kind === 'answered') return kept
  // The first request ended without an answer.
  const { status } = await describe()
  if (status.name !== 'RUNNING' && (await start(client, id, mark, 'ALLOW_DUPLICATE'))) return first(client, id)
  throw new RelayerError('IDEMPOTENCY_KEY_BUSY')
}

async function start(client: TemporalClient, id: string, mark: string, reuse: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE'): Promise<boolean> {
  const args: [IdempotencyKeyInput] = [{ workMs }]
  const options = { workflowId: id, args, workflowRunTimeout: longestRun, workflowIdReusePolicy: reuse, memo: { [requestMark]: mark } }
  return within(client, serverTimeoutMs, () => startUnlessTaken(client, 'idempotencyKey', options)).catch(rethrowAs({}))
}

function first({ workflow }: TemporalClient, id: string): KeyClaim {
  return { kind: 'first', answer: (answer) => workflow.getHandle(id).signal(answeredSignal, answer) }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
