import type { Bridge } from '../../bridges/port.ts'

/** The same endpoint on every chain, with the methods that a test gives. */
export function onEveryChain(endpoint: object): Bridge['endpoints'] {
  return { get: () => endpoint } as never
}
