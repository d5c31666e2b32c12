import { parser } from '@prometheus-io/lezer-promql'

export interface Asked {
  readonly metric: string
  readonly labels: readonly string[]
  /** Functions around the metric, the innermost first. */
  readonly functions: readonly string[]
}

export interface Query {
  /** Syntax errors with their places, by Prometheus's own grammar. */
  readonly faults: readonly string[]
  readonly asked: readonly Asked[]
  readonly grouped: readonly string[]
}

type Cursor = ReturnType<ReturnType<typeof parser.parse>['cursor']>

export function readQuery(query: string): Query {
  const [faults, asked, grouped]: [string[], Asked[], string[]] = [[], [], []]
  const text = ({ from, to }: { from: number; to: number }) => query.slice(from, to)
  parser.parse(query).iterate({
    enter: (node) => {
      if (node.type.isError) faults.push(`${node.from}: ${text(node)}`)
      if (node.name === 'GroupingLabels') grouped.push(...node.node.getChildren('LabelName').map(text))
      if (node.name !== 'VectorSelector') return
      const name = node.node.getChild('Identifier')
      const matchers = node.node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []
      asked.push({
        metric: name ? text(name) : '',
        labels: matchers.flatMap((matcher) => matcher.getChildren('LabelName').map(text)),
        functions: functionsAround(node.node, text),
      })
    },
  })
  return { faults, asked, grouped }
}

function functionsAround(node: Cursor['node'], text: (node: { from: number; to: number }) => string): string[] {
  const found: string[] = []
  for (let one = node.parent; one; one = one.parent) {
    const name = one.name === 'FunctionCall' ? one.getChild('FunctionIdentifier') : undefined
    if (name) found.push(text(name))
  }
  return found
}
