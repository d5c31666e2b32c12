import type { Nodes as NodesAnswer } from '../../answers.ts'
import { useReading } from '../data/readings.ts'
import { countText } from '../format/amounts.ts'
import { spanText } from '../format/time.ts'
import { State } from '../parts/mark.tsx'
import { Section } from '../parts/section.tsx'
import { Table } from '../parts/table.tsx'
import { Ago } from '../parts/values.tsx'

export function Nodes() {
  return (
    <Section id="nodes" title="Nodes" reading={useReading<NodesAnswer>('v1/nodes', 5_000)}>
      {({ nodes }) => (
        <Table
          caption="Nodes of the chains, as the process of this API reaches them"
          empty="The process of this API does not read chains. On a machine that reads them, run portage node list."
          rows={nodes}
          keyOf={({ chain, name }) => `${chain}/${name}`}
          columns={[
            { label: 'Node', cell: nodeName },
            { label: 'State', cell: ({ state }) => <State state={state} /> },
            { label: 'Use', cell: ({ use, added }) => `${use}${added ? ', added' : ''}` },
            { label: 'Lag, blocks', cell: ({ lag }) => countText(lag), isFigure: true },
            { label: 'Latency', cell: ({ latencyMs }) => spanText(latencyMs), isFigure: true },
            { label: 'Asked', cell: ({ asOf }) => <Ago at={asOf} />, isFigure: true },
            { label: 'Failures', cell: ({ failures }) => countText(failures), isFigure: true },
          ]}
        />
      )}
    </Section>
  )
}

function nodeName({ chain, name, origin }: NodesAnswer['nodes'][number]) {
  return (
    <span class="stack">
      <b>
        {chain}/{name}
      </b>
      <span class="mono quiet-text wrap">{origin}</span>
    </span>
  )
}
