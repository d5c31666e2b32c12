/** The browser page imports this file, so the file imports nothing. */
export const transferOrderTexts = {
  retry: {
    verb: 'Retry',
    summary: 'Try a transfer again now, also past its deadline',
    details: 'Wakes a transfer that waits or is parked; starts a closed transfer again that is not delivered.',
    asked: 'Asked for: the transfer is tried again now.',
  },
  cancel: {
    verb: 'Cancel',
    summary: 'End an open transfer',
    details: 'A no-op of the lane replaces a transaction in flight; if that transaction is mined first, the transfer is delivered.',
    asked: 'Asked for: the page of the transfer shows how it ends.',
  },
  expedite: {
    verb: 'Expedite',
    summary: 'Raise the fee of the transaction of a transfer now',
    details: 'The transfer goes first where a lane has no room for all.',
    asked: 'Asked for: its fee is raised now.',
  },
} as const

export type TransferOrderName = keyof typeof transferOrderTexts

export const transferOrderLevel = 'write'
