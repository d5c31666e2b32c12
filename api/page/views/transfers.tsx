import { useState } from 'preact/hooks'
import type { Lanes, Links, TransferPage } from '../../answers.ts'
import { useReading } from '../data/readings.ts'
import { filterIn, type ShownFilter, shownStates, transfersHref, transfersPath } from '../data/transfer-filter.ts'
import { grouped } from '../format/amounts.ts'
import { laneParts, shortHex } from '../format/ids.ts'
import { accountUrl, transactionUrl } from '../format/links.ts'
import { Select } from '../parts/choices.tsx'
import { State } from '../parts/mark.tsx'
import { Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'
import { Ago, Out, TransferLink } from '../parts/values.tsx'

type Row = TransferPage['transfers'][number]

const most = 50
const words = { code: '', bridge: '', sourceChain: 'from ', targetChain: 'to ' } as const
const ages = [
  { value: 'olderThan=10m', label: 'over 10 min' },
  { value: 'olderThan=1h', label: 'over 1 h' },
  { value: 'olderThan=1d', label: 'over 1 day' },
  { value: 'newerThan=10m', label: 'under 10 min' },
  { value: 'newerThan=1h', label: 'under 1 h' },
  { value: 'newerThan=1d', label: 'under 1 day' },
] as const

export function Transfers({ filter, links }: { readonly filter: ShownFilter; readonly links: Links | undefined }) {
  const address = transfersHref(filter)
  const [turned, setTurned] = useState<{ readonly address: string; readonly cursor: string }>()
  // A cursor is valid only with the filter that it was made for, so another filter starts at the first page.
  const cursor = turned?.address === address ? turned.cursor : undefined
  const reading = useReading<TransferPage>(transfersPath(filter, most, cursor), 5_000)
  return (
    <>
      <p>
        <a href="#/">← All</a>
      </p>
      <Section id="transfers" title="Transfers" reading={reading} tools={<Filters filter={filter} links={links} />}>
        {({ transfers, next }) => (
          <>
            <Rows transfers={transfers} links={links} />
            <p class="buttons end">
              {cursor !== undefined && (
                <button type="button" onClick={() => setTurned(undefined)}>
                  First page
                </button>
              )}
              {next !== undefined && (
                <button type="button" onClick={() => setTurned({ address, cursor: next })}>
                  Next page
                </button>
              )}
            </p>
          </>
        )}
      </Section>
    </>
  )
}

function Filters({ filter, links }: { readonly filter: ShownFilter; readonly links: Links | undefined }) {
  const lanes = useReading<Lanes>('v1/lanes', 5_000).data?.lanes ?? []
  const change = (changed: ShownFilter) => {
    // Reads the address, because `filter` is older if the user chooses again before this view is drawn again.
    location.hash = transfersHref({ ...filterIn(location.hash), ...changed })
  }
  const { olderThan, newerThan } = filter
  const age = olderThan ? `olderThan=${olderThan}` : newerThan && `newerThan=${newerThan}`
  const others = (['code', 'bridge', 'sourceChain', 'targetChain'] as const).filter((name) => filter[name] !== undefined)
  return (
    <span class="buttons">
      <Select name="State" of={shownStates} chosen={filter.state} onChoose={(state) => change({ state })} />
      <Select name="Chain" of={Object.keys(links?.chains ?? {})} chosen={filter.chain} onChoose={(chain) => change({ chain })} />
      <Select
        name="Lane"
        of={lanes.map(({ lane, chain }) => ({ value: lane, label: `${chain ?? ''} ${shortHex(laneParts(lane).address ?? lane)}` }))}
        chosen={filter.lane}
        onChoose={(lane) => change({ lane })}
      />
      <Select
        name="Age"
        of={ages}
        chosen={age}
        onChoose={(chosen = '') =>
          change({ olderThan: undefined, newerThan: undefined, ...Object.fromEntries(new URLSearchParams(chosen)) })
        }
      />
      {others.map((name) => (
        <button type="button" key={name} title="Remove this filter" onClick={() => change({ [name]: undefined })}>
          {words[name]}
          {filter[name]} ×
        </button>
      ))}
    </span>
  )
}

function Rows({ transfers, links }: Pick<TransferPage, 'transfers'> & { readonly links: Links | undefined }) {
  return (
    <Table
      caption="Transfers: the open ones first, then the closed ones, each newest first"
      empty="No transfer matches this filter."
      rows={transfers}
      // Each start of a transfer is a row, so the key contains the start.
      keyOf={({ id, startedAt }) => `${id} ${startedAt}`}
      columns={[
        { label: 'Transfer', cell: ({ id }) => <TransferLink id={id} /> },
        { label: 'State', cell: stateOf },
        { label: 'Route', cell: ({ sourceChain, targetChain }) => `${sourceChain ?? 'unknown'} → ${targetChain ?? 'unknown'}` },
        { label: 'Amount', cell: ({ tokenAmount, token }) => <span title={token}>{grouped(tokenAmount ?? '')}</span>, isFigure: true },
        { label: 'Recipient', cell: ({ recipient, targetChain }) => hashOf(recipient, accountUrl(links, targetChain, recipient)) },
        { label: 'Sent in', cell: ({ sourceTxHash: hash, sourceChain }) => hashOf(hash, transactionUrl(links, sourceChain, hash)) },
        { label: 'Delivered in', cell: ({ txHash, targetChain }) => hashOf(txHash, transactionUrl(links, targetChain, txHash)) },
        { label: 'Started', cell: ({ startedAt }) => <Ago at={startedAt} />, isFigure: true },
      ]}
    />
  )
}

function stateOf({ state = 'admitting', execution, code }: Row) {
  const isUndone = execution !== 'RUNNING' && execution !== 'COMPLETED'
  return (
    <span class="stack">
      <State state={isUndone ? execution.toLowerCase() : state} />
      {code !== undefined && <code class="code">{code}</code>}
    </span>
  )
}

function hashOf(text: string | undefined, to: string | undefined) {
  if (text === undefined) return '–'
  return (
    <span class="mono" title={text}>
      <Out to={to}>{shortHex(text)}</Out>
    </span>
  )
}
