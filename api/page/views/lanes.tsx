import { useReading } from '../data/readings.ts'
import type { LaneRow, Lanes as LanesRead, LaneSpending } from '../data/shapes.ts'
import { coinsText, countText, shareOf } from '../format/amounts.ts'
import { laneParts, shortHex } from '../format/ids.ts'
import { accountUrl, coinOfChain, type Links, workflowUrl } from '../format/links.ts'
import { timeOf } from '../format/time.ts'
import { Ago } from '../parts/age.tsx'
import { Coins } from '../parts/coins.tsx'
import { Out } from '../parts/link.tsx'
import { State } from '../parts/mark.tsx'
import { Empty, Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'

/** The lanes: their status, nonces, balances and spending. */
export function Lanes({ links }: { readonly links: Links | undefined }) {
  const reading = useReading<LanesRead>('v1/lanes', 5_000)
  const spending = useReading<LaneSpending>('v1/spending', 10_000).data?.lanes
  return (
    <Section id="lanes" title="Lanes" reading={reading} asOf={timeOf(reading.data?.asOf)}>
      {({ lanes }) =>
        lanes.length === 0 ? (
          <Empty>No lane is in the config, and no ledger runs: transfers wait until a chain has one (chains.&lt;name&gt;.lanes).</Empty>
        ) : (
          <Table
            caption="Lanes: a key on a chain, and the ledger of its nonces"
            rows={lanes}
            keyOf={({ lane }) => lane}
            columns={[
              { label: 'Lane', cell: (row) => <Lane row={row} links={links} /> },
              { label: 'State', cell: (row) => <LaneState row={row} /> },
              { label: 'In flight', cell: (row) => <Window row={row} />, isFigure: true },
              { label: 'Nonce: next, mined, final', cell: (row) => <Nonces row={row} />, isFigure: true },
              { label: 'Balance', cell: (row) => <Balance row={row} coin={coinOfChain(links, row.chain)} />, isFigure: true },
              {
                label: 'Spent of limit',
                cell: ({ lane, chain }) => (
                  <Spent spending={spending?.find((one) => one.lane === lane)?.spending} coin={coinOfChain(links, chain)} />
                ),
                isFigure: true,
              },
              { label: 'Heard', cell: (row) => <Ago at={timeOf(row.observedAt)} bare />, isFigure: true },
            ]}
          />
        )
      }
    </Section>
  )
}

interface Row {
  readonly row: LaneRow
}

interface OfCoin {
  readonly coin: string | undefined
}

function Lane({ row: { lane, chain }, links }: Row & { readonly links: Links | undefined }) {
  const { network, address } = laneParts(lane)
  return (
    <span class="stack">
      <b>{chain ?? `${network}, not in the config`}</b>
      <span class="mono" title={lane}>
        <Out to={accountUrl(links, chain, address)}>{shortHex(address ?? lane)}</Out>
      </span>
      {workflowUrl(links, `lane:${lane}`) && <Out to={workflowUrl(links, `lane:${lane}`)}>ledger</Out>}
    </span>
  )
}

function LaneState({ row: { status, reason, by } }: Row) {
  return (
    <span class="stack">
      <State state={status} />
      {reason !== undefined && (
        <span class="reason">
          {reason}
          {by !== undefined && ` (${by})`}
        </span>
      )}
    </span>
  )
}

/** Without an answer of a node, the last known balance. */
function Balance({ row: { balance, balanceAt, status }, coin }: Row & OfCoin) {
  return (
    <span class="stack end">
      <Coins wei={balance} coin={coin} />
      {status === 'chain away' && balanceAt !== undefined && (
        <span class="reason">
          <Ago at={timeOf(balanceAt)} />
        </span>
      )}
    </span>
  )
}

function Window({ row: { inFlight, window } }: Row) {
  if (inFlight === undefined) return <>–</>
  return (
    <span class="stack end">
      <span>
        {inFlight} of {window ?? '?'}
      </span>
      <Meter share={shareOf(inFlight, window)} label="nonces in flight" />
    </span>
  )
}

function Nonces({ row: { next, latest, finalized } }: Row) {
  if (next === undefined) return <>–</>
  return (
    <span class="triple">
      <span>{countText(next)}</span> <span>{latest === undefined ? '–' : countText(latest)}</span>{' '}
      <span>{finalized === undefined ? '–' : countText(finalized)}</span>
    </span>
  )
}

function Spent({ spending, coin }: OfCoin & { readonly spending: LaneSpending['lanes'][number]['spending'] | undefined }) {
  if (!spending)
    return (
      <span class="quiet-text" title="The metrics of the process with the key have it: portage_lane_spent_wei.">
        in another process
      </span>
    )
  if (spending.length === 0) return <span class="quiet-text">no limit</span>
  return (
    <span class="stack end">
      {spending.map(({ window, spent, limit }) => (
        <span class="stack end" key={window}>
          <span title={`${spent} of ${limit} wei`}>
            {coinsText(spent, coin)} of {coinsText(limit, coin)} a{window === 'hour' ? 'n' : ''} {window}
          </span>
          <Meter share={shareOf(spent, limit)} label={`spent of the limit of a${window === 'hour' ? 'n' : ''} ${window}`} />
        </span>
      ))}
    </span>
  )
}

function Meter({ share, label }: { readonly share: number | undefined; readonly label: string }) {
  if (share === undefined) return null
  const level = share >= 0.9 ? 'high' : share >= 0.7 ? 'mid' : 'low'
  return <progress class={`meter ${level}`} max={100} value={Math.round(share * 100)} aria-label={label} />
}
