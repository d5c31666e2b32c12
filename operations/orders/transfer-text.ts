/** The browser page imports this file, so this file imports nothing. */
export const transferOrderTexts = {
  retry: {
    verb: 'Retry',
    summary: 'Try a transfer again now, also past its deadline',
    details: 'This wakes a transfer that waits or is parked, and restarts a closed transfer that is not delivered.',
    asked: 'Asked for: the transfer is tried again now.',
  },
  cancel: {
    verb: 'Cancel',
    summary: 'End an open transfer',
    details: 'A no-op of the lane replaces a transaction in flight. If that transaction is mined first, the transfer ends as delivered.',
    asked: 'Asked for: the page of the transfer shows how it ends.',
  },
  expedite: {
    verb: 'Expedite',
    summary: 'Raise the fee of the transaction of a transfer now',
    details: 'If a lane has no room for all transfers, this transfer goes first.',
    asked: 'Asked for: its fee is raised now.',
  },
} as const

export type TransferOrderName = keyof typeof transferOrderTexts

export const transferOrderLevel = 'write'
