/** The browser page imports this file, so this file imports nothing. */
export const transferOrderTexts = {
  retry: {
    verb: 'Retry',
    summary: 'Try a transfer again now, even after its deadline',
    summaryOfMany: 'Try several transfers again now, even after their deadlines',
    details: 'Portage wakes a waiting or parked transfer, and starts a closed transfer again if it is not delivered.',
    asked: 'Asked for: the transfer is tried again now.',
  },
  cancel: {
    verb: 'Cancel',
    summary: 'End an open transfer',
    summaryOfMany: 'End several open transfers',
    details:
      'A no-op of the lane replaces the transaction of the transfer. If the transaction is mined before the no-op, the transfer ends as delivered.',
    asked: 'Asked for: the page of the transfer shows how it ends.',
  },
  expedite: {
    verb: 'Expedite',
    summary: "Raise the fee of a transfer's transaction now",
    summaryOfMany: 'Raise the fees of the transactions of several transfers now',
    details: 'The transfer goes first if a lane has no room for all transfers.',
    asked: 'Asked for: its fee is raised now.',
  },
} as const

export type TransferOrderName = keyof typeof transferOrderTexts

export const transferOrderLevel = 'write'
