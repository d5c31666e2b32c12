import { useReading } from '../data/readings.ts'
import type { TransferPage, TransferRow } from '../data/shapes.ts'
import { timeOf } from '../format/time.ts'
import { Ago } from '../parts/age.tsx'
import { TransferLink } from '../parts/link.tsx'
import { OrderButtons } from '../parts/order.tsx'
import { Empty, Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'

/** Most rows that are shown; the command line lists all. */
const most = 100

/** What is out of automatic tries and waits for a person. */
export function Parked() {
  const reading = useReading<TransferPage>(`v1/transfers?state=parked&limit=${most}`, 5_000)
  return (
    <Section id="parked" title="Parked transfers" reading={reading}>
      {({ transfers, next }) =>
        transfers.length === 0 ? (
          <Empty>
            No transfer is parked. One is parked when its tries are used up, or when only a person can decide: it is then listed here with
            its reason.
          </Empty>
        ) : (
          <>
            <Table
              caption="Transfers that wait for a person"
              rows={transfers}
              keyOf={({ id }) => id}
              columns={[
                { label: 'Transfer', cell: ({ id }) => <TransferLink id={id} /> },
                { label: 'Route', cell: ({ sourceChain, targetChain }) => `${sourceChain ?? 'unknown'} → ${targetChain ?? 'unknown'}` },
                { label: 'Reason', cell: (row) => <Reason row={row} /> },
                { label: 'Started', cell: ({ startedAt }) => <Ago at={timeOf(startedAt)} />, isFigure: true },
                {
                  label: 'Orders',
                  cell: ({ id, targetChain }) => <OrderButtons id={id} chain={targetChain} kinds={['retry', 'cancel']} />,
                },
              ]}
            />
            {next !== undefined && (
              <Empty>More are parked than these {transfers.length}: portage transfer list --state parked --limit 1000.</Empty>
            )}
          </>
        )
      }
    </Section>
  )
}

function Reason({ row: { code, reason, id } }: { readonly row: TransferRow }) {
  if (code === undefined) {
    return (
      <a href={`#/transfer/${encodeURIComponent(id)}`} class="quiet-text">
        see its page
      </a>
    )
  }
  return (
    <span class="stack">
      <code class="code">{code}</code>
      {reason !== undefined && <span class="reason">{reason}</span>}
    </span>
  )
}
