import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, type Problem, Refused, unreachable } from '../data/api.ts'
import { serverNow } from '../data/clock.ts'
import { transferOrderLevel, type TransferOrderName, transferOrderTexts } from '../../../operations/orders/transfer-text.ts'
import { refreshAll } from '../data/readings.ts'
import { missingFor } from '../data/rights.ts'
import { session } from '../data/session.ts'
import { createStore, useStore } from '../data/store.ts'
import { shortTransfer } from '../format/ids.ts'
import { ProblemNote } from './section.tsx'

interface Wanted {
  readonly kind: TransferOrderName
  readonly id: string
  readonly chain: string | undefined
}

const wanted = createStore<Wanted | undefined>(undefined)

/** If a right is missing, the dialog says which. */
export function OrderButtons({
  id,
  chain,
  kinds,
}: {
  readonly id: string
  readonly chain: string | undefined
  readonly kinds: readonly TransferOrderName[]
}) {
  return (
    <span class="buttons">
      {kinds.map((kind) => (
        <button
          type="button"
          class={kind === 'cancel' ? 'danger' : undefined}
          key={kind}
          aria-label={`${transferOrderTexts[kind].verb} ${shortTransfer(id)}`}
          onClick={() => wanted.set({ kind, id, chain })}
        >
          {transferOrderTexts[kind].verb}
        </button>
      ))}
    </span>
  )
}

/** One for the whole page. */
export function OrderDialog() {
  const order = useStore(wanted)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (order) dialog.current?.showModal()
    else dialog.current?.close()
  }, [order])
  return (
    <dialog ref={dialog} aria-labelledby="order-title" onClose={() => wanted.set(undefined)}>
      {order && <OrderForm order={order} key={`${order.kind} ${order.id}`} />}
    </dialog>
  )
}

type SendState = 'asking' | 'sending' | 'done' | Problem

function OrderForm({ order: { kind, id, chain } }: { readonly order: Wanted }) {
  const held = useStore(session)
  const [reason, setReason] = useState('')
  const [state, setState] = useState<SendState>('asking')
  const { verb, summary, details, asked } = transferOrderTexts[kind]
  const missing = missingFor(held?.claims, transferOrderLevel, chain, serverNow())
  const send = async () => {
    setState('sending')
    try {
      await ask(`v1/transfers/${encodeURIComponent(id)}/${kind}`, { reason: reason.trim() })
      setState('done')
      refreshAll()
    } catch (error) {
      setState(error instanceof Refused ? error.problem : unreachable)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (missing === undefined && state !== 'sending' && state !== 'done' && reason.trim() !== '') void send()
      }}
    >
      <h2 id="order-title">
        {verb} {kind === 'retry' ? 'now' : 'this transfer'}
      </h2>
      <p class="mono wrap">{id}</p>
      <p>
        {summary}. {details}
      </p>
      {missing !== undefined && <Missing what={missing} />}
      {typeof state === 'object' && <ProblemNote problem={state} />}
      {state === 'done' && (
        <p class="note good" role="status">
          {asked}
        </p>
      )}
      {state !== 'done' && missing === undefined && <ReasonField name={held?.claims.name ?? ''} reason={reason} onReason={setReason} />}
      <OrderEnd kind={kind} state={state} canSend={missing === undefined} hasReason={reason.trim() !== ''} />
    </form>
  )
}

export function Missing({ what }: { readonly what: string }) {
  return (
    <p class="note wait" role="status">
      {what} Enter another token at the top of the page; portage token create --name &lt;name&gt; --level write creates one.
    </p>
  )
}

interface ReasonProps {
  readonly name: string
  readonly reason: string
  readonly onReason: (reason: string) => void
}

export function ReasonField({ name, reason, onReason }: ReasonProps) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <label class="field">
      Reason, kept with your name ({name})
      <input
        ref={field}
        type="text"
        required
        maxLength={500}
        value={reason}
        onInput={({ currentTarget }) => onReason(currentTarget.value)}
      />
    </label>
  )
}

interface EndProps {
  readonly kind: TransferOrderName
  readonly state: SendState
  readonly canSend: boolean
  readonly hasReason: boolean
}

function OrderEnd({ kind, state, canSend, hasReason }: EndProps) {
  const isOver = state === 'done' || !canSend
  return (
    <p class="buttons end">
      <button type="button" onClick={() => wanted.set(undefined)}>
        {isOver ? 'Close' : 'Back'}
      </button>
      {!isOver && (
        <button type="submit" class={kind === 'cancel' ? 'danger strong' : 'strong'} disabled={state === 'sending' || !hasReason}>
          {state === 'sending' ? 'Sending…' : transferOrderTexts[kind].verb}
        </button>
      )}
    </p>
  )
}
