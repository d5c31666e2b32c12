import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type TransferOrderName, transferOrderTexts } from '../../../operations/orders/transfer-text.ts'
import type { BulkOrder } from '../../answers.ts'
import { ask, problemIn, type ShownProblem } from '../data/api.ts'
import { serverNow } from '../data/clock.ts'
import { refreshAll } from '../data/readings.ts'
import { missingFor, session } from '../data/session.ts'
import { createStore, useStore } from '../data/store.ts'
import { countText } from '../format/amounts.ts'
import { shortTransfer } from '../format/ids.ts'
import { ProblemNote } from './section.tsx'

interface WantedOrder {
  readonly kind: TransferOrderName
  readonly id: string
  readonly chain: string | undefined
}

export interface ParkedFilter {
  readonly code?: string
  readonly targetChain?: string
}

const mostOrdered = 500
const mostShown = 5

const wanted = createStore<WantedOrder | ParkedFilter | undefined>(undefined)

interface OrderButtonsProps extends Omit<WantedOrder, 'kind'> {
  readonly kinds: readonly TransferOrderName[]
}

export function OrderButtons({ id, chain, kinds }: OrderButtonsProps) {
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

export function RetryAllButton({ filter }: { readonly filter: ParkedFilter }) {
  return (
    <button type="button" onClick={() => wanted.set(filter)}>
      Retry all of these
    </button>
  )
}

export function OrderDialog() {
  const subject = useStore(wanted)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (subject) dialog.current?.showModal()
    else dialog.current?.close()
  }, [subject])
  return (
    <dialog ref={dialog} aria-labelledby="order-title" onClose={() => wanted.set(undefined)}>
      {subject && ('kind' in subject ? <OrderForm {...subject} key={`${subject.kind} ${subject.id}`} /> : <RetryAllForm {...subject} />)}
    </dialog>
  )
}

function OrderForm({ kind, id, chain }: WantedOrder) {
  const { verb, summary, details, asked } = transferOrderTexts[kind]
  return (
    <ReasonForm
      missing={missingFor(useStore(session)?.claims, chain, serverNow())}
      verb={verb}
      isDanger={kind === 'cancel'}
      send={(reason) => ask(`v1/transfers/${encodeURIComponent(id)}/${kind}`, { reason })}
      done={() => (
        <p class="note good" role="status">
          {asked}
        </p>
      )}
    >
      <h2 id="order-title">
        {verb} {kind === 'retry' ? 'now' : 'this transfer'}
      </h2>
      <p class="mono wrap">{id}</p>
      <p>
        {summary}. {details}
      </p>
    </ReasonForm>
  )
}

function RetryAllForm({ code, targetChain }: ParkedFilter) {
  const missing = missingFor(useStore(session)?.claims, targetChain, serverNow(), true)
  const [counted, setCounted] = useState<BulkOrder | ShownProblem | undefined>(undefined)
  const order = (reason: string, dryRun: boolean, limit: number) =>
    ask<BulkOrder>('v1/transfers/retry', { reason, dryRun, limit, filter: { state: 'parked', code, targetChain } })
  useEffect(() => {
    if (missing !== undefined) return
    order('how many are they?', true, mostOrdered).then(setCounted, (error: unknown) => setCounted(problemIn(error)))
  }, [])
  const count = counted && 'matched' in counted ? counted.matched : 0
  return (
    <ReasonForm
      missing={missing}
      lead={missing === undefined && <Counted counted={counted} />}
      canAsk={count > 0}
      verb={`Retry ${countText(count)}`}
      // With the limit `count`, the order concerns no more transfers than were counted, even if more were parked since.
      send={(reason) => order(reason, false, count)}
      done={(answer) => <Ordered answer={answer} />}
    >
      <h2 id="order-title">Retry all of these</h2>
      <p>
        Parked transfers with {code === undefined ? 'any code' : `the code ${code}`}
        {targetChain !== undefined && ` to ${targetChain}`}. Each is tried again now, also past its deadline.
      </p>
    </ReasonForm>
  )
}

function Counted({ counted }: { readonly counted: BulkOrder | ShownProblem | undefined }) {
  if (!counted) return <p role="status">Counting the transfers…</p>
  if ('code' in counted) return <ProblemNote problem={counted} />
  const rest = counted.more ? ' More transfers match: order again for the rest.' : ''
  const text = counted.matched === 0 ? 'No such transfer is parked now.' : `${countText(counted.matched)} would be retried.${rest}`
  return <p role="status">{text}</p>
}

function Ordered({ answer: { matched, more, results = [] } }: { readonly answer: BulkOrder }) {
  const refused = results.flatMap((one) => ('error' in one ? [`${one.id}: ${one.error.code}`] : []))
  return (
    <>
      <p class={`note ${refused.length === 0 ? 'good' : 'wait'}`} role="status">
        {countText(results.length - refused.length)} of {countText(matched)} asked for: they are tried again now.
        {more && ' More transfers match: order again for the rest.'}
      </p>
      {refused.slice(0, mostShown).map((line) => (
        <p class="mono wrap" key={line}>
          {line}
        </p>
      ))}
    </>
  )
}

interface ReasonFormProps<Answer> {
  readonly children: ComponentChildren
  readonly missing: string | undefined
  readonly lead?: ComponentChildren
  readonly canAsk?: boolean
  readonly verb: string
  readonly isDanger?: boolean
  readonly send: (reason: string) => Promise<Answer>
  readonly done: (answer: Answer) => ComponentChildren
}

type Sending<Answer> = { readonly answer: Answer } | { readonly problem: ShownProblem } | 'sending' | 'asking'

function ReasonForm<Answer>({ children, missing, lead, canAsk = true, verb, isDanger, send, done }: ReasonFormProps<Answer>) {
  const [reason, setReason] = useState('')
  const [state, setState] = useState<Sending<Answer>>('asking')
  const answered = typeof state === 'object' && 'answer' in state ? state : undefined
  const isAsking = canAsk && missing === undefined && !answered
  const canSend = isAsking && state !== 'sending' && reason.trim() !== ''
  const submit = async () => {
    setState('sending')
    try {
      setState({ answer: await send(reason.trim()) })
      refreshAll()
    } catch (error) {
      setState({ problem: problemIn(error) })
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (canSend) void submit()
      }}
    >
      {children}
      {missing !== undefined && (
        <p class="note wait" role="status">
          {missing} Enter another token at the top of the page; portage token create --name &lt;name&gt; --level write creates one.
        </p>
      )}
      {typeof state === 'object' && 'problem' in state && <ProblemNote problem={state.problem} />}
      {answered ? done(answered.answer) : lead}
      {isAsking && <ReasonField reason={reason} onReason={setReason} />}
      <p class="buttons end">
        <button type="button" onClick={() => wanted.set(undefined)}>
          {answered || missing !== undefined ? 'Close' : 'Back'}
        </button>
        {isAsking && (
          <button type="submit" class={isDanger ? 'danger strong' : 'strong'} disabled={!canSend}>
            {state === 'sending' ? 'Sending…' : verb}
          </button>
        )}
      </p>
    </form>
  )
}

function ReasonField({ reason, onReason }: { readonly reason: string; readonly onReason: (reason: string) => void }) {
  const name = useStore(session)?.claims.name ?? ''
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
