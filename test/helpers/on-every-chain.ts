import type { Bridge } from '../../bridges/port.ts'

/** Gives every chain the same endpoint. */
export function onEveryChain(endpoint: object): Bridge['endpoints'] {
  return { get: () => endpoint } as never
}
