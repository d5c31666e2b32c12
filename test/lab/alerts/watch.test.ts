import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ActiveAlert, Prometheus } from '../../../lab/alerts/prometheus.ts'
import { type AlertSummary, type FaultResult, isClean, tell } from '../../../lab/alerts/run.ts'
import { scenarios } from '../../../lab/alerts/scenarios.ts'
import { isExpected, strangers, watch } from '../../../lab/alerts/watch.ts'
import { unused } from '../../helpers/unused.ts'

const rules = parse(readFileSync(fileURLToPath(new URL('../../../deploy/prometheus/alerts.yml', import.meta.url)), 'utf8')) as {
  groups: { rules: { alert: string }[] }[]
}
const known = rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert))
const labels = (alertname: string, chain = 'bsc') => ({ alertname, chain })

test('each fault names an alert that exists, and so do its consequences', () => {
  const named = scenarios.flatMap(({ alert, consequences = [] }) => [alert, ...consequences])
  expect(named.filter((name) => !known.includes(name))).toEqual([])
  expect(new Set(scenarios.map(({ fault }) => fault)).size).toBe(scenarios.length)
})

test('an alert of another chain or fault is not the expected one', () => {
  const scenario = { alert: 'PortageNodeDown', labels: { chain: 'bsc' }, consequences: ['PortageNoQuorum'] }
  expect(isExpected(scenario, labels('PortageNodeDown'))).toBe(true)
  expect(isExpected(scenario, labels('PortageNodeDown', 'ethereum'))).toBe(false)
  expect(isExpected(scenario, labels('PortageNoQuorum'))).toBe(false)
  expect(
    strangers(scenario, [labels('PortageNodeDown'), labels('PortageNoQuorum'), labels('PortageHalted'), labels('PortageHalted')]),
  ).toEqual(['PortageHalted'])
})

describe('the watch of a fault', () => {
  /** A Prometheus that gives these answers in turn and then repeats the last answer. Undefined: no answer. */
  function scripted(...answers: readonly (readonly ActiveAlert[] | undefined)[]): Prometheus {
    let next = 0
    const alerts = () => {
      const answer = answers[Math.min(next++, answers.length - 1)]
      return answer ? Promise.resolve(answer) : Promise.reject(new Error('busy'))
    }
    return { version: '', scrape: unused('scrape'), count: unused('count'), stop: unused('stop'), alerts }
  }
  const alert = (alertname: string, state: ActiveAlert['state']): ActiveAlert => ({ labels: labels(alertname), state })

  test('a watch returns alerts that fired, not pending ones, also if Prometheus is silent for a while', async () => {
    const prometheus = scripted([alert('A', 'pending')], undefined, [alert('A', 'firing'), alert('B', 'pending')])
    const { afterMs, fired } = await watch(prometheus, (firing) => firing.size > 0, { withinMs: 60_000 })
    expect(afterMs).toBeGreaterThan(0)
    expect(fired).toEqual([labels('A')])
  })

  test('a watch ends after its time with the alerts that fired', async () => {
    const { afterMs, fired } = await watch(scripted([alert('B', 'firing')]), () => false, { withinMs: 0 })
    expect([afterMs, fired]).toEqual([undefined, [labels('B')]])
  })
})

describe('a run', () => {
  const result: FaultResult = {
    ...{ fault: 'a node is dead', alert: 'PortageNodeDown', ruleSeconds: 10, withinSeconds: 70 },
    ...{ firedAfterSeconds: 12, resolvedAfterSeconds: 3, others: [], consequences: [] },
  }
  const summary: AlertSummary = {
    ...{ prometheus: '2', scale: 60, results: [result], before: [], ended: [] },
    panels: { asked: 3, refused: [], empty: 1 },
  }

  test.each<[string, Partial<AlertSummary>]>([
    ['an alert did not fire', { results: [{ ...result, firedAfterSeconds: undefined }] }],
    ['an alert did not end', { results: [{ ...result, resolvedAfterSeconds: undefined }] }],
    ['another fired', { results: [{ ...result, others: ['PortageHalted'] }] }],
    ['one fired before any fault', { before: ['PortageChainStalled'] }],
    ['a process ended', { ended: ['ledger ended with code 1'] }],
    ['an expression of a dashboard was refused', { panels: { asked: 3, refused: ['x'], empty: 0 } }],
  ])('a run of alerts is not clean if %s', (_, change) => {
    expect(isClean(summary)).toBe(true)
    expect(isClean({ ...summary, ...change })).toBe(false)
  })

  test('the result of the alerts run has a line per fault', () => {
    expect(tell(result)).toBe('a node is dead: PortageNodeDown after 12 s (limit 70 s), resolved after 3 s')
    expect(tell({ ...result, firedAfterSeconds: undefined, others: ['PortageHalted'] })).toContain('NOT within 70 s')
    expect(tell({ ...result, others: ['PortageHalted'] })).toContain('OTHERS: PortageHalted')
  })
})
