import type { Lanes as LanesAnswer, Links, Spending } from '../../answers.ts'
import { isLow, tokenText } from '../../../domain/lane/tokens.ts'
import { useReading } from '../data/readings.ts'
import { transfersHref } from '../data/transfer-filter.ts'
import { coinsText, countText, shareOf } from '../format/amounts.ts'
import { laneParts, shortHex } from '../format/ids.ts'
import { accountUrl, coinOfChain, workflowUrl } from '../format/links.ts'
import { State } from '../parts/mark.tsx'
import { Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'
import { Ago, Coins, Out, Reason } from '../parts/values.tsx'

type Row = LanesAnswer['lanes'][number]

export function Lanes({ links }: { readonly links: Links | undefined }) {
  const spending = useReading<Spending>('v1/spending', 10_000).data?.lanes
  return (
    <Section id="lanes" title="Lanes" reading={useReading<LanesAnswer>('v1/lanes', 5_000)}>
      {({ lanes }) => (
        <Table
          caption="Lanes: a key on a chain, and the ledger of its nonces"
          empty="No lane is in the config, and no ledger runs: transfers wait until a chain has one (chains.<name>.lanes)."
          rows={lanes}
          keyOf={({ lane }) => lane}
          columns={[
            { label: 'Lane', cell: (row) => laneName(row, links) },
            { label: 'State', cell: laneState },
            { label: 'In flight', cell: inFlightOf, isFigure: true },
            { label: 'Nonce: next, mined, final', cell: noncesOf, isFigure: true },
            { label: 'Balance', cell: (row) => balanceOf(row, coinOfChain(links, row.chain)), isFigure: true },
            { label: 'Spent of limit', cell: (row) => spentOf(row, spending, coinOfChain(links, row.chain)), isFigure: true },
            { label: 'Read', cell: ({ observedAt }) => <Ago at={observedAt} bare />, isFigure: true },
          ]}
        />
      )}
    </Section>
  )
}

function laneName({ lane, chain }: Row, links: Links | undefined) {
  const { network, address } = laneParts(lane)
  const ledger = workflowUrl(links, `lane:${lane}`)
  return (
    <span class="stack">
      <b>{chain ?? `${network}, not in the config`}</b>
      <span class="mono" title={lane}>
        <Out to={accountUrl(links, chain, address)}>{shortHex(address ?? lane)}</Out>
      </span>
      {ledger && <Out to={ledger}>ledger</Out>}
    </span>
  )
}

function laneState({ status, reason, by }: Row) {
  return (
    <span class="stack">
      <State state={status} />
      <Reason>{reason !== undefined && `${reason}${by === undefined ? '' : ` (${by})`}`}</Reason>
    </span>
  )
}

function balanceOf({ balance, balanceAt, status, tokens = [] }: Row, coin: string | undefined) {
  return (
    <span class="stack end">
      <Coins wei={balance} coin={coin} />
      {tokens.map((one) => (
        <span key={one.token} title={one.token}>
          {tokenText(one, one.balance)}
          <Reason>{isLow(one) && 'below its minimum'}</Reason>
        </span>
      ))}
      <Reason>{status === 'chain away' && balanceAt !== undefined && <Ago at={balanceAt} />}</Reason>
    </span>
  )
}

function inFlightOf({ lane, inFlight, window }: Row) {
  if (inFlight === undefined) return '–'
  return (
    <span class="stack end">
      <a href={transfersHref({ state: 'open', lane })}>
        {inFlight} of {window ?? '?'}
      </a>
      <Meter share={shareOf(inFlight, window)} label="nonces in flight" />
    </span>
  )
}

function noncesOf({ next, latest, finalized }: Row) {
  if (next === undefined) return '–'
  return (
    <span class="triple">
      <span>{countText(next)}</span> <span>{countText(latest)}</span> <span>{countText(finalized)}</span>
    </span>
  )
}

function spentOf(row: Row, spending: Spending['lanes'] | undefined, coin: string | undefined) {
  const lane = spending?.find((one) => one.lane === row.lane)
  if (!lane)
    return (
      <span class="quiet-text" title="The metrics of the process with the key have it: portage_lane_spent_wei.">
        in another process
      </span>
    )
  if (lane.spending.length === 0) return <span class="quiet-text">no limit</span>
  return (
    <span class="stack end">
      {lane.spending
        .filter(({ kind, spent }) => kind === 'cost' || spent !== '0')
        .map(({ kind, window, spent, limit }) => {
          const period = `${kind === 'cost' ? '' : kind === 'payment' ? 'paid in ' : 'paid to lanes in '}${window === 'hour' ? 'an hour' : `a ${window}`}`
          return (
            <span class="stack end" key={`${kind} ${window}`}>
              <span title={`${spent} of ${limit} wei`}>
                {coinsText(spent, coin)} of {coinsText(limit, coin)} {period}
              </span>
              <Meter share={shareOf(spent, limit)} label={`spent of the limit of ${period}`} />
            </span>
          )
        })}
    </span>
  )
}

function Meter({ share, label }: { readonly share: number | undefined; readonly label: string }) {
  if (share === undefined) return null
  const level = share >= 0.9 ? 'high' : share >= 0.7 ? 'mid' : 'low'
  return <progress class={`meter ${level}`} max={100} value={Math.round(share * 100)} aria-label={label} />
}
