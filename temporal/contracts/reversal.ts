/**
 * Input and result of the workflow `reversal`: a record that a delivery is gone, with the search attributes of the
 * transfer, for notifiers to read in Temporal's lists. Written before the transfer is started again, so that none is
 * missing.
 */
export interface Reversal {
  /** Workflow id of the transfer, and the run that had delivered. */
  transfer: string
  run: string
  txHash?: string
}

/** Prefix of the workflow ids of reversals. */
export const reversalPrefix = 'reversal:'

export function reversalId({ transfer, run }: Pick<Reversal, 'transfer' | 'run'>): string {
  return `${reversalPrefix}${transfer}:${run}`
}
