import { type TransferState, isOutcome } from '../../domain/transfer/transfer.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import type { Client } from '@temporalio/client'

export interface Seen {
  readonly id: string
  /** `source:emitter:sequence`. */
  readonly key: string
  readonly state: TransferState
  readonly route: string
  readonly lane: string
  readonly running: boolean
  readonly historyEvents: number
  readonly stateTransitions: number
}

/** No worker serves this queue, so workflows that attackers start on it never end. */
export const strangersQueue = 'strangers'

/** All transfers in Temporal, except those on `strangersQueue`. */
export async function lookAtTransfers(client: Client): Promise<Seen[]> {
  const seen: Seen[] = []
  for await (const info of client.workflow.list({ query: "WorkflowType = 'transfer'", pageSize: 1000 })) {
    if (info.taskQueue === strangersQueue) continue
    const [, , emitter = '', sequence = ''] = info.workflowId.split(':')
    const attribute = (name: keyof typeof searchAttributes) => info.typedSearchAttributes.get(searchAttributes[name]) ?? ''
    const source = attribute('SourceChain')
    seen.push({
      id: info.workflowId,
      key: `${source}:${emitter}:${sequence}`,
      state: (attribute('TransferState') || 'admitting') as TransferState,
      route: `${source} → ${attribute('TargetChain')}`,
      lane: attribute('Lane'),
      running: info.status.name === 'RUNNING',
      historyEvents: info.historyLength,
      stateTransitions: Number(info.raw.stateTransitionCount ?? 0),
    })
  }
  return seen
}

export function isSettled({ running, state }: Seen): boolean {
  return !running || isOutcome(state) || state === 'parked'
}
