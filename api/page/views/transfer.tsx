import type { TransferOrderName } from '../../../operations/orders/transfer-text.ts'
import type { Links } from '../../answers.ts'
import { useReading } from '../data/readings.ts'
import type { TransferReport } from '../data/shapes.ts'
import { countText, grouped, priceText } from '../format/amounts.ts'
import { shortHex, shortTransfer } from '../format/ids.ts'
import { accountUrl, coinOfChain, transactionUrl, workflowUrl } from '../format/links.ts'
import { spanText } from '../format/time.ts'
import { toneOf } from '../format/tone.ts'
import { Mark, State } from '../parts/mark.tsx'
import { OrderButtons } from '../parts/order.tsx'
import { Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'
import { Ago, Clock, Coins, Detail, IdDetail, Out } from '../parts/values.tsx'

interface Shown {
  readonly report: TransferReport
  readonly links: Links | undefined
  readonly chain: string | undefined
}

export function Transfer({ id, links }: { readonly id: string; readonly links: Links | undefined }) {
  const reading = useReading<TransferReport>(`v1/transfers/${encodeURIComponent(id)}`, 3_000)
  return (
    <>
      <p>
        <a href="#/">← All</a> · <a href="#/transfers">Transfers</a>
      </p>
      <Section id="transfer" title={`Transfer ${shortTransfer(reading.data?.id ?? id)}`} reading={reading}>
        {(report) => {
          const shown = { report, links, chain: report.transfer?.targetChain ?? report.targetChain }
          return (
            <>
              <Facts {...shown} />
              <Why {...report} />
              <Details {...shown} />
              <Timeline {...report} />
              <Transactions {...shown} />
              <Orders {...report} />
            </>
          )
        }}
      </Section>
    </>
  )
}

function ordersOf({ execution, state }: TransferReport): readonly TransferOrderName[] {
  if (execution === 'RUNNING')
    return state === 'broadcasting' || state === 'pending' ? ['expedite', 'retry', 'cancel'] : ['retry', 'cancel']
  return execution === 'COMPLETED' && state === 'delivered' ? [] : ['retry']
}

function Facts({ report, links, chain }: Shown) {
  const { id, state, execution, mip61 } = report
  const workflow = workflowUrl(links, id)
  return (
    <div class="transfer-head">
      <State state={state ?? execution.toLowerCase()} />
      {mip61 !== undefined && <span class="quiet-text">MIP-61: {mip61}</span>}
      {workflow && <Out to={workflow}>Temporal</Out>}
      <OrderButtons id={id} chain={chain} kinds={ordersOf(report)} />
    </div>
  )
}

function Why({ state, code, reason, remedy, partial }: TransferReport) {
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

function Details({ report, links, chain }: Shown) {
  const { id, transfer, lane, nonce, delivery, batch, rounds = 1 } = report
  const hash = delivery?.txHash ?? report.txHash
  const source = transfer?.sourceChain ?? report.sourceChain
  return (
    <dl class="details">
      <IdDetail name="Id">{id}</IdDetail>
      <Detail name="Route">{`${source ?? 'unknown'} → ${chain ?? 'unknown'}`}</Detail>
      <Detail name="Amount">{report.tokenAmount !== undefined && grouped(report.tokenAmount)}</Detail>
      <IdDetail name="Token">{report.token}</IdDetail>
      <IdDetail name="Recipient">
        {report.recipient && <Out to={accountUrl(links, chain, report.recipient)}>{report.recipient}</Out>}
      </IdDetail>
      <IdDetail name="Source transaction">
        {report.sourceTxHash && <Out to={transactionUrl(links, source, report.sourceTxHash)}>{report.sourceTxHash}</Out>}
      </IdDetail>
      <Detail name="Bridge">{transfer?.bridge ?? report.bridge}</Detail>
      <IdDetail name="Emitter">{transfer?.emitter}</IdDetail>
      <Detail name="Sequence">{transfer && countText(transfer.sequence)}</Detail>
      <IdDetail name="Lane">{lane && <Out to={accountUrl(links, chain, lane.split(':')[1])}>{lane}</Out>}</IdDetail>
      <Detail name="Nonce">{nonce !== undefined && countText(nonce)}</Detail>
      <IdDetail name="Batch">{batch}</IdDetail>
      <IdDetail name="Transaction">{hash && <Out to={transactionUrl(links, chain, hash)}>{hash}</Out>}</IdDetail>
      <IdDetail name="Delivered by">
        {delivery && (
          <>
            <Out to={accountUrl(links, chain, delivery.by)}>{delivery.by ?? 'unknown'}</Out>
            {delivery.ours && ' (ours)'}
          </>
        )}
      </IdDetail>
      <Detail name="Block">{delivery?.blockHeight !== undefined && countText(delivery.blockHeight)}</Detail>
      <Detail name="Gas paid">
        {delivery?.gasPaid !== undefined && <Coins wei={delivery.gasPaid} coin={coinOfChain(links, chain)} />}
      </Detail>
      <Detail name="Rounds">{rounds > 1 && countText(rounds)}</Detail>
    </dl>
  )
}

function Timeline({ timeline = [] }: TransferReport) {
  if (timeline.length === 0) return null
  return (
    <>
      <h3>Timeline</h3>
      <ol class="timeline">
        {timeline.map(({ at, state, note }, index) => {
          const before = timeline[index - 1]?.at
          return (
            <li key={index}>
              <Mark tone={toneOf(state)} />
              <Clock at={at} />
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

function Transactions({ report: { transactions = [] }, links, chain }: Shown) {
  if (transactions.length === 0) return null
  return (
    <>
      <h3>Transactions</h3>
      <Table
        caption="Signed transactions"
        rows={transactions}
        keyOf={({ hash, lane, nonce, maxFee, kind }) => hash ?? `${lane} ${kind} ${nonce} ${maxFee}`}
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

function Orders({ orders = [], timeline }: TransferReport) {
  if (orders.length === 0) return timeline ? <p class="empty">No orders yet.</p> : null
  return (
    <>
      <h3>Orders</h3>
      <ul class="orders">
        {orders.map(({ kind, by, reason, at, times }) => (
          <li key={`${kind} ${at}`}>
            <b>{kind}</b> by {by}, <Ago at={at} />
            {times !== undefined && ` (${times} times)`}: {reason}
          </li>
        ))}
      </ul>
    </>
  )
}
