import type { LatencyResult, Quantiles } from './latency.ts'
import { tellMachine } from './machine.ts'
import { textTable } from './table.ts'
import { tellVerdict } from './verdict.ts'

export function latencyTable({ bridges, rate, seconds, keys, nodes, machine, ...verdict }: LatencyResult): string {
  const all = Object.entries(bridges)
  const tell = (one: Quantiles | undefined) => (one ? `${one.median} (${one.p90}, ${one.most})` : '-')
  const row = (name: string, of: (bridge: LatencyResult['bridges'][string]) => string) => [name, ...all.map(([, bridge]) => of(bridge))]
  const steps = Object.keys(all[0]?.[1].steps ?? {})
  return [
    textTable([
      ['ms: median (90th percentile, most)', ...all.map(([name]) => name)],
      row('source final to included', (one) => tell(one.finalityToInclusion)),
      row('  of which until signed', (one) => tell(one.finalityToSigned)),
      row('target final to delivered', (one) => tell(one.targetFinalityToDelivered)),
      ...steps.map((step) => row(`  step ${step}`, (one) => `${one.steps[step]?.median} (${one.steps[step]?.p90})`)),
      row('  seen to delivered', (one) => `${one.seenToDelivered.median} (${one.seenToDelivered.p90})`),
    ]),
    `  ${rate} per second for ${seconds} s, ${keys} keys and ${nodes} nodes per chain; ${tellMachine(machine)}`,
    `  ${tellVerdict(verdict)}`,
  ].join('\n')
}
