import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, type Problem, Refused, unreachable } from '../data/api.ts'
import { serverNow } from '../data/clock.ts'
import { refreshAll } from '../data/readings.ts'
import { missingForMany } from '../data/rights.ts'
import { session } from '../data/session.ts'
import type { BulkAnswer } from '../data/shapes.ts'
import { createStore, useStore } from '../data/store.ts'
import { countText } from '../format/amounts.ts'
import { Missing, ReasonField } from './order.tsx'
import { ProblemNote } from './section.tsx'

export interface ParkedFilter {
  readonly code?: string
  readonly targetChain?: string
}

/** The limit of the API for one order. */
const most = 500
const mostShown = 5

const wanted = createStore<ParkedFilter | undefined>(undefined)

export function RetryAllButton({ filter }: { readonly filter: ParkedFilter }) {
  return (
    <button type="button" onClick={() => wanted.set(filter)}>
      Retry all of these
    </button>
  )
}

/** Counts, asks and orders. One for the whole page, so that a changing list does not close it. */
export function RetryAllDialog() {
  const filter = useStore(wanted)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (filter) dialog.current?.showModal()
    else dialog.current?.close()
  }, [filter])
  return (
    <dialog ref={dialog} aria-labelledby="retry-all-title" onClose={() => wanted.set(undefined)}>
      {filter && <RetryAllForm filter={filter} />}
    </dialog>
  )
}

type Step =
  | { readonly kind: 'counting' }
  | { readonly kind: 'sending' }
  | { readonly kind: 'counted'; readonly answer: BulkAnswer }
  | { readonly kind: 'done'; readonly answer: BulkAnswer }
  | { readonly kind: 'problem'; readonly problem: Problem }

function RetryAllForm({ filter }: { readonly filter: ParkedFilter }) {
  const held = useStore(session)
  const [reason, setReason] = useState('')
  const [step, setStep] = useState<Step>({ kind: 'counting' })
  const missing = missingForMany(held?.claims, filter.targetChain, serverNow())
  const send = async (body: { readonly dryRun: boolean; readonly limit: number; readonly reason: string }) => {
    setStep({ kind: body.dryRun ? 'counting' : 'sending' })
    try {
      const answer = await ask<BulkAnswer>('v1/transfers/retry', { ...body, filter: { state: 'parked', ...filter } })
      setStep({ kind: body.dryRun ? 'counted' : 'done', answer })
      if (!body.dryRun) refreshAll()
    } catch (error) {
      setStep({ kind: 'problem', problem: error instanceof Refused ? error.problem : unreachable })
    }
  }
  useEffect(() => {
    if (missing === undefined) void send({ dryRun: true, limit: most, reason: 'how many are they?' })
  }, [])
  const count = step.kind === 'counted' ? step.answer.matched : 0
  const canSend = count > 0 && reason.trim() !== ''
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        // Orders at most the counted number, even if more were parked since.
        if (canSend) void send({ dryRun: false, limit: count, reason: reason.trim() })
      }}
    >
      <h2 id="retry-all-title">Retry all of these</h2>
      <p>Parked transfers{described(filter)}. Each is tried again now, also past its deadline.</p>
      {missing === undefined ? <Said step={step} /> : <Missing what={missing} />}
      {count > 0 && <ReasonField name={held?.claims.name ?? ''} reason={reason} onReason={setReason} />}
      <p class="buttons end">
        <button type="button" onClick={() => wanted.set(undefined)}>
          {step.kind === 'done' ? 'Close' : 'Back'}
        </button>
        {count > 0 && (
          <button type="submit" class="strong" disabled={!canSend}>
            Retry {countText(count)}
          </button>
        )}
      </p>
    </form>
  )
}

function described({ code, targetChain }: ParkedFilter): string {
  return `${code === undefined ? ' with any code' : ` with the code ${code}`}${targetChain === undefined ? '' : ` to ${targetChain}`}`
}

function Said({ step }: { readonly step: Step }) {
  if (step.kind === 'problem') return <ProblemNote problem={step.problem} />
  if (step.kind === 'counting' || step.kind === 'sending')
    return <p role="status">{step.kind === 'counting' ? 'Counting them…' : 'Sending…'}</p>
  const { matched, more, results = [] } = step.answer
  if (step.kind === 'counted') {
    const rest = more ? ' More match: these are the first, order again for the others.' : ''
    return <p role="status">{matched === 0 ? 'No such transfer is parked now.' : `${countText(matched)} would be retried.${rest}`}</p>
  }
  const refused = results.flatMap(({ id, error }) => (error ? [`${id}: ${error.code}`] : []))
  return (
    <>
      <p class={`note ${refused.length === 0 ? 'good' : 'wait'}`} role="status">
        {countText(results.length - refused.length)} of {countText(matched)} asked for: they are tried again now.
        {more && ' More match: order again for the others.'}
      </p>
      {refused.slice(0, mostShown).map((line) => (
        <p class="mono wrap" key={line}>
          {line}
        </p>
      ))}
    </>
  )
}
