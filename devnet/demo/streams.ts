import type { Client } from '@temporalio/client'
import { streamViewQuery } from '../../temporal/stream.ts'

/** What a stream has proved: MIP-61's names. */
export interface Watermark {
  readonly stream: string
  /** All numbers up to this one are resolved; undefined: none yet. */
  readonly completedNonceHeight: string | undefined
  readonly completedBlockHeight: number | undefined
  readonly open: number
  /** Numbers in gaps. */
  readonly gaps: string
  readonly alarms: readonly string[]
}

/** All streams of the namespace, as they tell themselves, by name. */
export async function watermarks(client: Client): Promise<Watermark[]> {
  const ids: string[] = []
  for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'stream' AND ExecutionStatus = 'Running'" })) {
    ids.push(workflowId)
  }
  const views = await Promise.all(ids.map((id) => client.workflow.getHandle(id).query(streamViewQuery)))
  return views
    .map(({ stream, completedNumber, completedHeight, open, gaps, alarms }) => ({
      stream,
      completedNonceHeight: completedNumber,
      completedBlockHeight: completedHeight,
      open,
      gaps: String(Object.values(gaps).reduce((sum, count) => sum + BigInt(count), 0n)),
      alarms,
    }))
    .toSorted((a, b) => a.stream.localeCompare(b.stream))
}

/** One line for people. */
export function describeWatermark({ completedNonceHeight, completedBlockHeight, open, gaps, alarms }: Watermark): string {
  const alarmed = alarms.length > 0 ? `, alarms: ${alarms.join(', ')}` : ''
  return `completed_nonce_height ${completedNonceHeight ?? '-'}, completed_block_height ${completedBlockHeight ?? '-'}, ${open} open, ${gaps} in gaps${alarmed}`
}
