/**
 * Input and result of the workflow `reversal`: a record that a delivery is gone, in Temporal's own lists, where notifiers read it. It has the search attributes of the
 * transfer. Written before the transfer is started again, so that none is missing.
 */
export interface Reversal {
  /** Workflow id of the transfer, and the run that had delivered. */
  transfer: string
  run: string
  txHash?: string
}

/** Workflow ids of reversals begin so. */
export const reversalPrefix = 'reversal:'

export function reversalId({ transfer, run }: Pick<Reversal, 'transfer' | 'run'>): string {
  return `${reversalPrefix}${transfer}:${run}`
}
