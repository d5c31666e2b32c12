import { useState } from 'preact/hooks'
import type { TransferPage } from '../../answers.ts'
import { useReading } from '../data/readings.ts'
import type { Causes } from '../data/shapes.ts'
import { transfersHref, transfersPath } from '../data/transfer-filter.ts'
import { Select } from '../parts/choices.tsx'
import { OrderButtons, type ParkedFilter, RetryAllButton } from '../parts/order.tsx'
import { Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'
import { Ago, transferHref, TransferLink } from '../parts/values.tsx'

const most = 100

export function Parked() {
  const [filter, setFilter] = useState<ParkedFilter>({})
  const all = useReading<TransferPage>(transfersPath({ state: 'parked' }, most), 5_000).data?.transfers ?? []
  const causes = useReading<Causes>('v1/stuck', 5_000).data?.causes ?? []
  const reading = useReading<TransferPage>(transfersPath({ state: 'parked', ...filter }, most), 5_000)
  // `all` has only the newest transfers, so the codes of older transfers come from the causes.
  const grouped = causes.filter(({ where, code }) => where.kind === 'transfers' && where.id === 'parked' && code !== 'TRANSFERS_PARKED')
  const codes = optionsOf([...all, ...grouped].map(({ code }) => code))
  const targets = optionsOf(all.map(({ targetChain }) => targetChain))
  const isNarrowed = filter.code !== undefined || filter.targetChain !== undefined
  const tools = (all.length > 0 || isNarrowed) && (
    <span class="buttons">
      <Select name="Code" of={codes} chosen={filter.code} onChoose={(code) => setFilter({ ...filter, code })} />
      <Select name="Target" of={targets} chosen={filter.targetChain} onChoose={(targetChain) => setFilter({ ...filter, targetChain })} />
      <RetryAllButton filter={filter} />
    </span>
  )
  return (
    <Section id="parked" title="Parked transfers" reading={reading} tools={tools}>
      {({ transfers, next }) => (
        <>
          <Rows transfers={transfers} isNarrowed={isNarrowed} />
          {next !== undefined && transfers.length > 0 && (
            <p class="empty">
              <a href={transfersHref({ state: 'parked', ...filter })}>More are parked than these {transfers.length}.</a>
            </p>
          )}
        </>
      )}
    </Section>
  )
}

function optionsOf(values: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(values.filter((one) => one !== undefined))].toSorted()
}

function Rows({ transfers, isNarrowed }: Pick<TransferPage, 'transfers'> & { readonly isNarrowed: boolean }) {
  return (
    <Table
      caption="Transfers that wait for a person"
      empty={
        isNarrowed
          ? 'No transfer is parked with this code and target.'
          : 'No transfer is parked. Portage parks a transfer after its last attempt, or if only a person can decide. It is listed here with its reason.'
      }
      rows={transfers}
      keyOf={({ id }) => id}
      columns={[
        { label: 'Transfer', cell: ({ id }) => <TransferLink id={id} /> },
        { label: 'Route', cell: ({ sourceChain, targetChain }) => `${sourceChain ?? 'unknown'} → ${targetChain ?? 'unknown'}` },
        { label: 'Reason', cell: reasonOf },
        { label: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} />, isFigure: true },
        { label: 'Orders', cell: ({ id, targetChain }) => <OrderButtons id={id} chain={targetChain} kinds={['retry', 'cancel']} /> },
      ]}
    />
  )
}

function reasonOf({ code, id }: TransferPage['transfers'][number]) {
  if (code !== undefined) return <code class="code">{code}</code>
  return (
    <a href={transferHref(id)} class="quiet-text">
      see its page
    </a>
  )
}
