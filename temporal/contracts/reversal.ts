/** A delivery whose effect is gone. It is recorded before the transfer starts again. */
export interface Reversal {
  transfer: string
  run: string
  txHash?: string
}

export const reversalPrefix = 'reversal:'

export function reversalId({ transfer, run }: Pick<Reversal, 'transfer' | 'run'>): string {
  return `${reversalPrefix}${transfer}:${run}`
}
