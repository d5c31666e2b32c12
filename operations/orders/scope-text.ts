import type { FeeScope } from '../../domain/fees/fees.ts'
import type { HaltScope } from '../../domain/settings/settings.ts'

/** `global`, `chain:bsc`, `call:bsc/0x…` or `call:bsc/0x…/0x12345678`, `lane:evm-56:0x…`, `transfer:<id>` */
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

export function haltScopeText({ bridge, chain, sourceChain, targetChain }: HaltScope): string {
  const parts = [
    bridge && `bridge ${bridge}`,
    chain && `chain ${chain}`,
    sourceChain && `from ${sourceChain}`,
    targetChain && `to ${targetChain}`,
  ]
  return parts.filter(Boolean).join(', ') || 'everything'
}
