import type { SigningPolicy } from './signing-port.ts'

/** What a policy allows beside its limits, where it allows only no-ops: nothing of value is signed. */
export const noopsOnly: Omit<SigningPolicy, 'limits' | 'lane'> = {
  calls: {},
  operatorCalls: {},
  coinPayees: [],
  tokens: [],
  tokenPayees: [],
  justify: () => Promise.resolve(),
  dataFee: () => Promise.resolve('0'),
  fieldOf: (what) => what,
}
