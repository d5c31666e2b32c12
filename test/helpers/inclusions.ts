import type { Inclusion, Watch } from '../../chains/port.ts'

export function inclusion(watch: Watch, wanted: (inclusion: Inclusion) => boolean): Promise<Inclusion> {
  if (wanted(watch.inclusion)) return Promise.resolve(watch.inclusion)
  return new Promise((resolve) => watch.onChange((now) => wanted(now) && resolve(now)))
}

export async function included(watch: Watch): Promise<Extract<Inclusion, { kind: 'included' }>> {
  return (await inclusion(watch, (now) => now.kind === 'included')) as Extract<Inclusion, { kind: 'included' }>
}
