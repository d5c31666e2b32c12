import { useReading } from '../data/readings.ts'
import type { TransactionRow, TransferReport } from '../data/shapes.ts'
import { countText, priceText } from '../format/amounts.ts'
import { shortHex, shortTransfer } from '../format/ids.ts'
import { accountUrl, coinOfChain, type Links, transactionUrl, workflowUrl } from '../format/links.ts'
import { clockText, spanText, timeOf } from '../format/time.ts'
import { toneOf } from '../format/tone.ts'
import { Ago } from '../parts/age.tsx'
import { Coins } from '../parts/coins.tsx'
import { Out } from '../parts/link.tsx'
import { Mark, State } from '../parts/mark.tsx'
import type { TransferOrderName } from '../../../operations/orders/transfer-text.ts'
import { OrderButtons } from '../parts/order.tsx'
import { Empty, Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'

interface Shown {
  readonly report: TransferReport
  readonly links: Links | undefined
}

/** One transfer: its state, timeline, transactions and orders. */
export function Transfer({ id, links }: { readonly id: string; readonly links: Links | undefined }) {
  const reading = useReading<TransferReport>(`v1/transfers/${encodeURIComponent(id)}`, 3_000)
  return (
    <>
      <p>
        <a href="#/">← All</a>
      </p>
      <Section id="transfer" title={`Transfer ${shortTransfer(reading.data?.id ?? id)}`} reading={reading}>
        {(report) => (
          <>
            <Facts report={report} links={links} />
            <Timeline report={report} />
            <Transactions report={report} links={links} />
            <Orders report={report} />
          </>
        )}
      </Section>
    </>
  )
}

function ordersOf({ execution, state }: TransferReport): readonly TransferOrderName[] {
  if (execution === 'RUNNING')
    return state === 'broadcasting' || state === 'pending' ? ['expedite', 'retry', 'cancel'] : ['retry', 'cancel']
  return execution === 'COMPLETED' && state === 'delivered' ? [] : ['retry']
}

function Facts({ report, links }: Shown) {
  const { id, state, execution, mip61, transfer } = report
  const target = transfer?.targetChain ?? report.targetChain
  return (
    <>
      <div class="transfer-head">
        <State state={state ?? execution.toLowerCase()} />
        {mip61 !== undefined && <span class="quiet-text">MIP-61: {mip61}</span>}
        {workflowUrl(links, id) && <Out to={workflowUrl(links, id)}>Temporal</Out>}
        <OrderButtons id={id} chain={target} kinds={ordersOf(report)} />
      </div>
      <Why report={report} />
      <Details report={report} links={links} />
    </>
  )
}

function Why({ report: { state, code, reason, remedy, partial } }: Pick<Shown, 'report'>) {
  return (
    <>
      {(code !== undefined || reason !== undefined) && (
        <div class={`note ${state === 'delivered' ? 'good' : 'wait'}`}>
          <Mark tone="wait" />
          <div>
            {code !== undefined && <code class="code">{code}</code>} {reason}
            {remedy !== undefined && <p>{remedy}</p>}
          </div>
        </div>
      )}
      {partial !== undefined && <p class="note wait">The report is incomplete: {partial}.</p>}
    </>
  )
}

function Details({ report, links }: Shown) {
  const { id, transfer, lane, nonce, txHash, delivery, batch, rounds } = report
  const source = transfer?.sourceChain ?? report.sourceChain
  const target = transfer?.targetChain ?? report.targetChain
  const hash = delivery?.txHash ?? txHash
  const address = lane?.split(':')[1]
  return (
    <dl class="details">
      <Detail name="Id">
        <span class="mono wrap">{id}</span>
      </Detail>
      <Detail name="Route">{`${source ?? 'unknown'} → ${target ?? 'unknown'}`}</Detail>
      <Detail name="Bridge">{transfer?.bridge ?? report.bridge}</Detail>
      <Detail name="Emitter">{transfer && <span class="mono wrap">{transfer.emitter}</span>}</Detail>
      <Detail name="Sequence">{transfer && countText(transfer.sequence)}</Detail>
      <Detail name="Lane">
        {lane && (
          <span class="mono wrap">
            <Out to={accountUrl(links, target, address)}>{lane}</Out>
          </span>
        )}
      </Detail>
      <Detail name="Nonce">{nonce !== undefined && countText(nonce)}</Detail>
      <Detail name="Batch">{batch && <span class="mono wrap">{batch}</span>}</Detail>
      <Detail name="Transaction">
        {hash && (
          <span class="mono wrap">
            <Out to={transactionUrl(links, target, hash)}>{hash}</Out>
          </span>
        )}
      </Detail>
      <Detail name="Delivered by">
        {delivery && (
          <span class="mono wrap">
            <Out to={accountUrl(links, target, delivery.by)}>{delivery.by ?? 'unknown'}</Out>
            {delivery.ours && ' (ours)'}
          </span>
        )}
      </Detail>
      <Detail name="Block">{delivery?.blockHeight !== undefined && countText(delivery.blockHeight)}</Detail>
      <Detail name="Gas paid">
        {delivery?.gasPaid !== undefined && <Coins wei={delivery.gasPaid} coin={coinOfChain(links, target)} />}
      </Detail>
      <Detail name="Rounds">{rounds !== undefined && rounds > 1 && countText(rounds)}</Detail>
    </dl>
  )
}

function Detail({ name, children }: { readonly name: string; readonly children?: preact.ComponentChildren }) {
  if (children === undefined || children === null || children === false || children === '') return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Timeline({ report: { timeline = [] } }: { readonly report: TransferReport }) {
  if (timeline.length === 0) return null
  return (
    <>
      <h3>Timeline</h3>
      <ol class="timeline">
        {timeline.map(({ at, state, note }, index) => {
          const before = timeline[index - 1]?.at
          return (
            // Lines are only ever appended.
            <li key={index}>
              <Mark tone={toneOf(state)} />
              <time dateTime={new Date(at).toISOString()} class="figure">
                {clockText(at)}
              </time>
              <span class="figure quiet-text">{before === undefined ? '' : `+${spanText(at - before)}`}</span>
              <b>{state}</b>
              <span class="wrap">{note}</span>
            </li>
          )
        })}
      </ol>
    </>
  )
}

function Transactions({ report, links }: Shown) {
  const { transactions = [], transfer, targetChain } = report
  if (transactions.length === 0) return null
  const chain = transfer?.targetChain ?? targetChain
  return (
    <>
      <h3>Transactions</h3>
      <Table
        caption="Signed transactions"
        rows={transactions}
        keyOf={({ hash, lane, nonce, maxFee, kind }: TransactionRow) => hash ?? `${lane} ${kind} ${nonce} ${maxFee}`}
        columns={[
          {
            label: 'Transaction',
            cell: ({ hash }) => (
              <span class="mono" title={hash}>
                <Out to={transactionUrl(links, chain, hash)}>{hash === undefined ? 'not known' : shortHex(hash)}</Out>
              </span>
            ),
          },
          { label: 'Kind', cell: ({ kind }) => kind },
          { label: 'Nonce', cell: ({ nonce, lane }) => <span title={lane}>{countText(nonce)}</span>, isFigure: true },
          { label: 'Highest fee', cell: ({ maxFee }) => priceText(maxFee) || '–', isFigure: true },
          { label: 'Tip', cell: ({ tip }) => priceText(tip) || '–', isFigure: true },
          { label: 'Cost', cell: ({ gasPaid }) => <Coins wei={gasPaid} coin={coinOfChain(links, chain)} />, isFigure: true },
          { label: 'Fate', cell: ({ fate }) => <State state={fate} /> },
        ]}
      />
    </>
  )
}

function Orders({ report: { orders = [], timeline } }: { readonly report: TransferReport }) {
  if (orders.length === 0) return timeline ? <Empty>No orders yet.</Empty> : null
  return (
    <>
      <h3>Orders</h3>
      <ul class="orders">
        {orders.map(({ kind, by, reason, at, times }) => (
          <li key={`${kind} ${at}`}>
            <b>{kind}</b> by {by}, <Ago at={timeOf(at)} />
            {times !== undefined && ` (${times} times)`}: {reason}
          </li>
        ))}
      </ul>
    </>
  )
}
