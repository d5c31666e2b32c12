import { anyText, byKind, type Check, decimal, fields, flag, listOf, oneOf, optional, text, whole } from '../../field-checks.ts'
import type { ApplyRequest, LaneRequest } from '../messages.ts'

/** go-ethereum keeps 64 transactions of an account in its pool, reth 16. A node that reports more is wrong. */
const mostPending = 1_000

const block = fields({ height: whole, hash: text() })
const attempt = fields({ kind: oneOf('call', 'noop'), gasLimit: decimal, maxFee: decimal, tip: decimal, dataFee: optional(decimal) })
const named = { order: optional(fields({ by: text(), reason: text() })) }
const reason = fields({ ...named, reason: text() })
const none = fields(named)
const atNonce = fields({ ...named, nonce: whole })

const kinds: Record<LaneRequest['kind'], Check> = {
  grant: fields({ owner: fields({ intentId: text(), callHash: text(), value: optional(decimal) }), attempt }),
  find: fields({ callHash: optional(text()), intentId: text() }),
  attempt: fields({ nonce: whole, index: whole, attempt }),
  release: fields({ intentId: text(), grantedTo: text() }),
  withdraw: fields({ intentId: text(), how: oneOf('leave', 'cancel', 'abandon') }),
  fill: atNonce,
  cancelNonce: atNonce,
  replace: fields({ ...named, maxFee: optional(decimal), tip: optional(decimal), nonce: whole }),
  republish: fields({ ...named, nonce: optional(whole) }),
  pause: fields({ ...named, pause: fields({ kind: oneOf('operator', 'unauthorized'), reason: text() }) }),
  drain: reason,
  forbid: reason,
  configure: fields({ config: fields({ lane: text(), window: whole, fillAfterBlocks: whole, minimumBalance: optional(decimal) }) }),
  replaced: fields({ block }),
  setWindow: fields({ ...named, window: whole }),
  resume: fields({ ...named, only: optional(oneOf('operator', 'unauthorized')) }),
  activate: none,
  resync: none,
  reset: none,
}

const observation = fields({
  latest: whole,
  finalized: whole,
  height: whole,
  since: whole,
  pending: optional(whole),
  undone: optional(flag),
  balance: decimal,
  claims: listOf(whole),
  final: optional(block),
})

const update = fields({
  requests: listOf(byKind(kinds)),
  observe: optional(observation),
  known: optional(fields({ era: whole, granted: whole, next: whole, finalized: whole })),
  run: optional(anyText),
})

/** Throws an Error that names the malformed field. An error in the reducer itself would block the ledger. */
export function assertApplyRequest(request: ApplyRequest): void {
  update(request, '')
  const { pending = 0, latest = 0 } = request.observe ?? {}
  if (pending - latest > mostPending) throw new Error(`observe.pending: more than ${mostPending} ahead of observe.latest`)
}
