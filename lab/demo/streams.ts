import type { Client } from '@temporalio/client'
import { streamViewQuery } from '../../temporal/contracts/stream.ts'
import { isBurn, isExecution, isNative, isNtt, type AnySent } from '../devnet/sent.ts'

/** State of a stream, with MIP-61's names. */
export interface Watermark {
  readonly stream: string
  /** The number up to which all numbers are resolved. Undefined if the stream's first number is not resolved. */
  readonly completedNonceHeight: string | undefined
  readonly completedBlockHeight: number | undefined
  readonly open: number
  /** Count of the numbers in gaps, decimal. */
  readonly gaps: string
  readonly alarms: readonly string[]
}

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

export function describeWatermark({ completedNonceHeight, completedBlockHeight, open, gaps, alarms }: Watermark): string {
  const alarmed = alarms.length > 0 ? `, alarms: ${alarms.join(', ')}` : ''
  return `completed_nonce_height ${completedNonceHeight ?? '-'}, completed_block_height ${completedBlockHeight ?? '-'}, ${open} open, ${gaps} in gaps${alarmed}`
}

/** Streams that have not proved the sent transfers, each with the reason. */
export async function unprovedStreams({ client, sent }: { client: Client; sent: readonly AnySent[] }): Promise<string[]> {
  const known = new Map((await watermarks(client)).map((one) => [one.stream, one]))
  return [...lastNumbers(sent)].flatMap(([stream, last]) => {
    const mark = known.get(stream)
    if (!mark) return [`${stream}: no workflow`]
    const { completedNonceHeight: completed, open, gaps } = mark
    const proved = completed !== undefined && BigInt(completed) >= last && open === 0 && gaps === '0'
    return proved ? [] : [`${stream}: proved up to ${completed ?? 'nothing'} of ${last}, ${open} open, ${gaps} in gaps`]
  })
}

function prefixOf(one: AnySent): string {
  if (isExecution(one)) return 'executor'
  if (isBurn(one)) return 'cctp'
  return isNtt(one) ? 'wormhole' : 'wormhole-token-bridge'
}

export function lastNumbers(sent: readonly AnySent[]): Map<string, bigint> {
  const last = new Map<string, bigint>()
  for (const one of sent) {
    const [stream, number] = isNative(one)
      ? [`native-bridge:${one.source}:${one.target}`, one.nonce]
      : [`${prefixOf(one)}:${one.source}:${one.emitter}`, one.sequence]
    if (number > (last.get(stream) ?? -1n)) last.set(stream, number)
  }
  return last
}
