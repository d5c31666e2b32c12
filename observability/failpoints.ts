/**
 * Places in the code where crash tests kill or stop a process. PORTAGE_FAILPOINTS=`after-grant=kill@3` kills at the
 * third `after-grant`.
 */
export type Failpoint =
  | 'after-grant'
  | 'after-sign'
  | 'after-send'
  | 'after-bump-recorded'
  | 'lane-continue-as-new'
  | 'activity-done-unreported'
  | 'notified'

const armed = parse(process.env['PORTAGE_FAILPOINTS'])
const hits = new Map<string, number>()

export function failpoint(name: Failpoint): void {
  const plan = armed.get(name)
  if (!plan) return
  const hit = (hits.get(name) ?? 0) + 1
  hits.set(name, hit)
  if (hit === plan.at) process.kill(process.pid, plan.signal)
}

export function failpointArmed(name: Failpoint): boolean {
  return armed.has(name)
}

function parse(text: string | undefined): Map<string, { signal: 'SIGKILL' | 'SIGSTOP'; at: number }> {
  const plans = new Map<string, { signal: 'SIGKILL' | 'SIGSTOP'; at: number }>()
  for (const part of (text ?? '').split(',').filter(Boolean)) {
    const [name = '', action = ''] = part.split('=')
    const [verb = '', at = '1'] = action.split('@')
    plans.set(name.trim(), { signal: verb === 'stop' ? 'SIGSTOP' : 'SIGKILL', at: Number(at) })
  }
  return plans
}
