import type { Plan } from './plan.ts'
import { Simulation } from './simulate.ts'
import { isClean, type Verdict } from './verdict.ts'

/** Runs per smaller plan, each with different random numbers, because most plans fail only sometimes. */
const triesPerPlan = 3

export interface Shrunk {
  readonly plan: Plan
  readonly verdict: Verdict
}

/** Finds a small plan that still fails. Stops when no smaller plan fails, or after `limitMs` of real time. */
export async function shrink(failed: Shrunk, limitMs: number): Promise<Shrunk> {
  const until = process.hrtime.bigint() + BigInt(limitMs) * 1_000_000n
  let best = failed
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const plan of smallerPlans(best.plan)) {
      if (process.hrtime.bigint() > until) return best
      const found = await failureOf(plan)
      if (!found) continue
      best = found
      isSmaller = true
      break
    }
  }
  return best
}

async function failureOf(plan: Plan): Promise<Shrunk | undefined> {
  for (let tries = 0; tries < triesPerPlan; tries++) {
    const tried = tries === 0 ? plan : { ...plan, seed: `${plan.seed}'` }
    const verdict = await new Simulation(tried).run()
    if (!isClean(verdict)) return { plan: tried, verdict }
    plan = tried
  }
  return undefined
}

/** Plans that are smaller in one respect, beginning with the largest cuts. */
function* smallerPlans(plan: Plan): Generator<Plan> {
  const { transfers, faults, chains, processes, view, losses, sendMs } = plan
  if (transfers > 1) yield { ...plan, transfers: Math.floor(transfers / 2), sendMs: Math.max(1_000, sendMs / 2) }
  if (faults.length > 1) {
    yield { ...plan, faults: faults.slice(0, faults.length >> 1) }
    yield { ...plan, faults: faults.slice(faults.length >> 1) }
  }
  for (const at of faults.keys()) yield { ...plan, faults: faults.toSpliced(at, 1) }
  if (chains.length > 1) for (const at of chains.keys()) yield { ...plan, chains: chains.toSpliced(at, 1) }
  if (chains.some(({ lanes }) => lanes.length > 1))
    yield { ...plan, chains: chains.map((one) => ({ ...one, lanes: one.lanes.slice(0, 1) })) }
  if (processes > 1) yield { ...plan, processes: processes - 1 }
  for (const name of ['reorgs', 'spikes', 'drops'] as const)
    if (chains.some((one) => one[name] > 0)) yield { ...plan, chains: chains.map((one) => ({ ...one, [name]: 0 })) }
  for (const name of ['request', 'answer', 'report'] as const) if (losses[name] > 0) yield { ...plan, losses: { ...losses, [name]: 0 } }
  if (view.failures > 0) yield { ...plan, view: { ...view, failures: 0 } }
  if (view.silence > 0) yield { ...plan, view: { ...view, silence: 0 } }
  if (view.lags) yield { ...plan, view: { ...view, lags: false } }
  if (plan.kms) yield { ...plan, kms: false }
  if (plan.local) yield { ...plan, local: false }
}
