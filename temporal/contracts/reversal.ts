/** Input and result of `reversal`, the record that a delivery is gone. Made before the transfer is started again. */
export interface Reversal {
  /** Workflow id of the transfer, and the run that had delivered. */
  transfer: string
  run: string
  txHash?: string
}

export const reversalPrefix = 'reversal:'

export function reversalId({ transfer, run }: Pick<Reversal, 'transfer' | 'run'>): string {
  return `${reversalPrefix}${transfer}:${run}`
}
