import { tellMachine } from '../machine.ts'
import { type Spread, spread } from '../statistics.ts'
import { tellSpread, textTable } from '../table.ts'
import type { KillRun, PeerRun } from './peer-run.ts'
import type { PeerFigures, PeersResult } from './peers.ts'

const columns = [
  'per second',
  'sustained',
  'CPU ms, own',
  'store',
  'killed: lost',
  'duplicates',
  'reverted',
  'seconds to the last',
] as const

export function peersTable({ peers, transfers, keys, rounds, machine }: PeersResult): string {
  return [
    textTable([['median (least–most)', ...columns], ...peers.map(rowOf)]),
    `  ${transfers} transfers (relayer-engine as documented: a twentieth), ${keys} keys, ${rounds} rounds; ${tellMachine(machine)}`,
  ].join('\n')
}

function rowOf({ name, runs, kills }: PeerFigures): string[] {
  const ofRuns = (of: (run: PeerRun) => number | undefined) => tellSpread(known(runs.map(of)))
  const ofKills = (of: (run: KillRun) => number | undefined) => tellSpread(known(kills.map(of)))
  return [
    name,
    ofRuns((run) => run.perSecond),
    ofRuns((run) => run.sustainedPerSecond),
    ofRuns((run) => run.cpuMs['relayer']),
    ofRuns((run) => run.cpuMs['store']),
    ofKills((run) => run.lost),
    ofKills((run) => run.duplicates),
    ofKills((run) => run.revertedTransactions),
    ofKills((run) => run.seconds),
  ]
}

function known(values: readonly (number | undefined)[]): Spread | undefined {
  const numbers = values.filter((value) => value !== undefined)
  return numbers.length > 0 ? spread(numbers) : undefined
}
