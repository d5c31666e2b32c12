import { InvalidArgumentError } from 'commander'
import { exactAmountText, gweiText } from '../../domain/text/amounts.ts'
import type { FeePolicy, FeeScope } from '../../domain/fees/policy.ts'

/** Reads feeScopeText. Throws InvalidArgumentError. */
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

/** A limit as `fees set` takes it: prices in gwei, costs in ether, other numbers unchanged. */
export function limitText(field: keyof FeePolicy, value: string | number | undefined): string {
  if (value === undefined) return '-'
  if (field === 'gasFactor' || field === 'gasLimit') return String(value)
  return field === 'maxFeePerTransaction' ? exactAmountText(String(value), 'ether') : gweiText(String(value))
}
