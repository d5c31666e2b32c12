import type { CheckResult } from '../checker/checker.ts'

export interface Verdict extends Pick<
  CheckResult,
  'delivered' | 'lost' | 'duplicates' | 'nonceHoles' | 'foreignCompletions' | 'revertedTransactions'
> {
  readonly of: number
}

export function verdictOf(check: Omit<Verdict, 'of'>, of: number): Verdict {
  const { delivered, lost, duplicates, nonceHoles, foreignCompletions, revertedTransactions } = check
  return { delivered, of, lost, duplicates, nonceHoles, foreignCompletions, revertedTransactions }
}

export function isClean({ delivered, of, lost, duplicates, nonceHoles, foreignCompletions }: Verdict): boolean {
  return delivered === of && lost + duplicates + nonceHoles + foreignCompletions === 0
}

export function tellVerdict(verdict: Verdict): string {
  const { delivered, of, lost, duplicates, nonceHoles, foreignCompletions, revertedTransactions } = verdict
  const found = `lost ${lost}, duplicates ${duplicates}, nonce holes ${nonceHoles}, foreign completions ${foreignCompletions}, reverted ${revertedTransactions}`
  return `Delivered ${delivered} of ${of}; ${found}: ${isClean(verdict) ? 'clean' : 'NOT CLEAN'}`
}
