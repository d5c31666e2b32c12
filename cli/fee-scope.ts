import { formatUnits, parseUnits } from 'ethers'
import { InvalidArgumentError } from 'commander'
import type { FeePolicy, FeeScope } from '../domain/fees/policy.ts'

/** `global`, `chain:bsc`, `call:bsc/0x…` or `call:bsc/0x…/0x12345678`, `lane:evm-56:0x…`, `transfer:<id>`. */
export function feeScopeText(scope: FeeScope): string {
  switch (scope.kind) {
    case 'global':
      return 'global'
    case 'chain':
      return `chain:${scope.chain}`
    case 'call':
      return `call:${[scope.chain, scope.contract, scope.selector].filter(Boolean).join('/')}`
    case 'lane':
      return `lane:${scope.lane}`
    case 'transfer':
      return `transfer:${scope.id}`
  }
}

/** The opposite of feeScopeText. Throws InvalidArgumentError (a wrong command line). */
export function parseFeeScope(text: string): FeeScope {
  const [, kind, rest = ''] = /^(\w+)(?::(.+))?$/.exec(text) ?? []
  if (kind === 'global' && rest === '') return { kind }
  if (rest !== '') {
    if (kind === 'chain') return { kind, chain: rest }
    if (kind === 'lane') return { kind, lane: rest }
    if (kind === 'transfer') return { kind, id: rest }
    if (kind === 'call') {
      const [chain, contract, selector, more] = rest.split('/')
      if (chain && contract && more === undefined) return { kind, chain, contract, selector }
    }
  }
  throw new InvalidArgumentError('It must be global, chain:<name>, call:<chain>/<contract>[/<selector>], lane:<id> or transfer:<id>.')
}

/** `30gwei`, `0.05ether` or `30000000000` (wei) as wei, decimal. Throws InvalidArgumentError. */
export function parseWei(text: string): string {
  const [, amount, unit = 'wei'] = /^([0-9]+(?:\.[0-9]+)?)(wei|gwei|ether)?$/.exec(text) ?? []
  try {
    if (amount !== undefined) return String(parseUnits(amount, unit))
  } catch {
    // It has a fraction of a wei: refused below.
  }
  throw new InvalidArgumentError('It must be an amount in wei, or with a unit: 30gwei, 0.05ether.')
}

/** The opposite of parseWei, exact: in the largest unit in which it is not less than one, `1.5gwei`. */
export function weiText(wei: string): string {
  const [unit, digits] = wei.length > 18 ? (['ether', 18] as const) : wei.length > 9 ? (['gwei', 9] as const) : (['wei', 0] as const)
  return `${formatUnits(wei, digits).replace(/[.]0$/, '')}${unit}`
}

/** A limit as `fees set` takes it: amounts with their unit, other numbers unchanged. Undefined: `-`. */
export function limitText(field: keyof FeePolicy, value: string | number | undefined): string {
  if (value === undefined) return '-'
  return field === 'gasFactor' || field === 'gasLimit' ? String(value) : weiText(String(value))
}
