import { useReading } from '../data/readings.ts'
import type { NodeRow, Nodes as NodesRead } from '../data/shapes.ts'
import { countText } from '../format/amounts.ts'
import { spanText, timeOf } from '../format/time.ts'
import { Ago } from '../parts/age.tsx'
import { State } from '../parts/mark.tsx'
import { Empty, Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'

/** As the process of the API reaches them. */
export function Nodes() {
  const reading = useReading<NodesRead>('v1/nodes', 5_000)
  return (
    <Section id="nodes" title="Nodes" reading={reading} asOf={timeOf(reading.data?.asOf)}>
      {({ nodes }) =>
        nodes.length === 0 ? (
          <Empty>The process of this API reads no chain. On a machine that does: portage node list.</Empty>
        ) : (
          <Table
            caption="Nodes of the chains, as the process of this API reaches them"
            rows={nodes}
            keyOf={({ chain, name }) => `${chain}/${name}`}
            columns={[
              { label: 'Node', cell: (row) => <Node row={row} /> },
              { label: 'State', cell: ({ state }) => <State state={state} /> },
              { label: 'Use', cell: ({ use, added }) => `${use ?? '–'}${added ? ', added' : ''}` },
              { label: 'Lag, blocks', cell: ({ lag }) => (lag === undefined ? '–' : countText(lag)), isFigure: true },
              { label: 'Latency', cell: ({ latencyMs }) => (latencyMs === undefined ? '–' : spanText(latencyMs)), isFigure: true },
              { label: 'Asked', cell: ({ asOf }) => (asOf === undefined ? '–' : <Ago at={timeOf(asOf)} />), isFigure: true },
              { label: 'Failures', cell: ({ failures }) => (failures === undefined ? '–' : countText(failures)), isFigure: true },
            ]}
          />
        )
      }
    </Section>
  )
}

function Node({ row: { chain, name, origin } }: { readonly row: NodeRow }) {
  return (
    <span class="stack">
      <b>
        {chain}/{name}
      </b>
      {origin !== undefined && <span class="mono quiet-text wrap">{origin}</span>}
    </span>
  )
}
