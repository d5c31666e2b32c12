import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { findBelieved } from '../../lab/attack/believed.ts'
import { type DefenceName, defences, isNoticed } from '../../lab/attack/defences.ts'
import { edited } from '../../lab/edited-copy.ts'
import { type AttackSummary, isClean } from '../../lab/attack/judge.ts'
import type { AttackScene } from '../../lab/attack/scene.ts'
import { attackKinds, lastKind, planAttacks } from '../../lab/attack/plan.ts'

const run = { seed: 'short', durationMs: 60_000, kinds: attackKinds }

test('a seed always plans the same attacks, and all kinds come before any repeats', () => {
  const plan = planAttacks(run)
  expect(planAttacks(run)).toEqual(plan)
  expect(planAttacks({ ...run, seed: 'other' })).not.toEqual(plan)
  const planned = attackKinds.filter((kind) => kind !== lastKind)
  expect(new Set(plan.slice(0, planned.length).map(({ kind }) => kind))).toEqual(new Set(planned))
})

const counts = {
  ...{ lost: 0, duplicateEffects: 0, stolen: 0, paidTwice: 0, overCap: 0, overspent: 0, believed: 0, stoppedRoutes: 0, falseCancels: 0 },
  ...{ leaks: 0, unnamedOrders: 0, shutOut: 0, stuck: 0, brokenTasks: 0, bloated: 0, crashes: 0, notTried: 0 },
}
const clean: AttackSummary = { seed: '1', honest: 40, delivered: 40, ...counts, attacks: {}, seconds: 60 }

test('a run is clean only if all honest transfers were delivered and nothing else happened', () => {
  expect(isClean(clean)).toBe(true)
  for (const field of Object.keys(counts)) expect([field, isClean({ ...clean, [field]: 1 })]).toEqual([field, false])
  expect(isClean({ ...clean, delivered: 39 })).toBe(false)
  expect(isClean({ ...clean, honest: 0, delivered: 0 })).toBe(false)
})

test('a missing defence is noticed by its own count, and only in a run that carried out every attack', () => {
  const noticed = (summary: Partial<AttackSummary>, name: DefenceName = 'cost-limit') => isNoticed(name, { ...clean, ...summary })
  expect(noticed({ overCap: 1 })).toBe(true)
  expect(noticed({ overCap: 1, stuck: 3 })).toBe(true)
  expect(noticed({})).toBe(false)
  expect(noticed({ stuck: 1, stolen: 1 })).toBe(false)
  expect(noticed({ overCap: 1, notTried: 1 })).toBe(false)
  expect(noticed({ stolen: 1 }, 'payees')).toBe(true)
})

test('a believed message counts once, also if Temporal has been wiped since', async () => {
  const id = (sequence: number) => ({ workflowId: `wormhole-token-bridge:2:aa:${sequence}` })
  const lists = [[id(7), id(10_000_001)], [id(10_000_001), id(10_000_002)], []]
  const client = { workflow: { list: () => lists.shift() } } as unknown as AttackScene['client']
  const scene = { client, believed: new Set<string>(), say: () => {} }
  for (const count of [1, 2, 2]) expect((await findBelieved(scene)).size).toBe(count)
})

test.each(Object.entries(defences))('the defence %s is in the code where an attack run removes it', async (_, defence) => {
  const text = await readFile(defence.file, 'utf8')
  expect(edited(text, defence)).not.toBe(text)
})
