import { Webhook } from 'standardwebhooks'
import type { SendAnswer } from '../../domain/notification/attempts.ts'
import { raisedTypes } from '../../domain/notification/notifier.ts'
import { type Notification, sequenceOf, type Receiver } from '../../domain/notification/notification.ts'
import { AnswerTooLong, fetchBounded } from '../../runtime/http/fetch-bounded.ts'
import { retryAfterMs } from '../../runtime/http/retry-after.ts'
import { idOf } from './events.ts'

/** The shortest time limit that Standard Webhooks recommends. */
const timeoutMs = 15_000
const mostBytes = 16_384

/** The id in the webhook. Ids from signals are hashed, so that no signal can take the id of a later notification. */
export function wireId({ id, type }: Pick<Notification, 'id' | 'type'>): string {
  return raisedTypes.includes(type) ? idOf('raised', id) : id
}

export function bodyOf(notification: Notification): string {
  const { type, at, data } = notification
  const id = wireId(notification)
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), id, sequence: sequenceOf(notification), data })
}

/** Returns the signed headers of Standard Webhooks. Throws if a secret is unreadable or malformed. */
export function signedHeaders({ secrets }: Pick<Receiver, 'secrets'>, id: string, body: string, now: Date): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(checkedSecret(secret.read())).sign(id, now, body))
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  }
}

/** Throws for a malformed secret. The error does not contain the secret. */
export function checkedSecret(text: string): string {
  const secret = text.trim()
  const bytes = /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret) ? Buffer.from(secret.slice('whsec_'.length), 'base64').length : 0
  if (bytes < 24 || bytes > 64) throw new Error('must be whsec_ and 24 to 64 bytes in base64')
  return secret
}

/** Sends one attempt. Does not follow redirects. Never throws. */
export async function sendNotification(
  receiver: Receiver,
  notification: Notification,
  { signal, ...limits }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<SendAnswer> {
  const body = bodyOf(notification)
  let signed: Record<string, string>
  try {
    signed = signedHeaders(receiver, wireId(notification), body, new Date())
  } catch {
    return { kind: 'failed', why: 'its secret cannot be read, or is malformed' }
  }
  const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'portage', ...signed }
  try {
    const answer = await fetchBounded(new URL(receiver.url), { method: 'POST', headers, body }, { timeoutMs, mostBytes, signal, ...limits })
    return answerOf(answer.status, retryAfterMs(answer.headers.get('retry-after'), Date.now()))
  } catch (error) {
    // Only the body of a successful answer can be too long.
    if (error instanceof AnswerTooLong) return { kind: 'taken' }
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return { kind: 'failed', why: isLate ? 'no answer in time' : 'no connection' }
  }
}

const waits: ReadonlySet<number> = new Set([408, 425, 429])

function answerOf(status: number, retryAfter: number | undefined): SendAnswer {
  if (status >= 200 && status < 300) return { kind: 'taken' }
  if (status === 410) return { kind: 'gone', why: 'it wants no more notifications (410)' }
  if (status >= 300 && status < 400) return { kind: 'refused', why: `a redirect (${status}), which is not followed` }
  if (status >= 500 || waits.has(status)) return { kind: 'failed', why: `HTTP ${status}`, retryAfterMs: retryAfter }
  return { kind: 'refused', why: `HTTP ${status}` }
}
