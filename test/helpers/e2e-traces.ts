import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Sent } from './e2e.ts'
import type { ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts'

type Receiver = Awaited<ReturnType<typeof startOtlpReceiver>>

/** Expects that each transfer has one trace, from its submission to its transaction, whose id is in the log lines. */
export async function expectTraced(receiver: Receiver, portage: PortageProcess, transfers: readonly Sent[]): Promise<void> {
  const run = (id: string) =>
    receiver.spans.find(({ name, attributes }) => name === 'RunWorkflow:transfer' && attributes['temporalWorkflowId'] === id)
  // The exporter sends spans every five seconds, so they arrive after the transfers have ended.
  const missing = () => transfers.filter(({ id }) => !run(id))
  await until(() => missing().length === 0, { timeoutMs: 60_000, what: 'the spans of all runs' }).catch(async (error: unknown) => {
    const lost = (await readFile(portage.logFile, 'utf8')).split('\n').filter((line) => line.includes('TRACES_LOST'))
    throw new Error(
      `no span of ${missing()
        .map(({ id }) => id)
        .join(', ')}; ${lost.join()}`,
      { cause: error },
    )
  })
  const sentLines = async () =>
    (await readFile(portage.logFile, 'utf8')).split('\n').filter((line) => line.includes('a transaction was sent'))
  for (const { id } of transfers) {
    const { traceId, spanId, parentSpanId } = run(id)!
    const ofTrace = () => receiver.spans.filter((span) => span.traceId === traceId)
    const named = (name: string) => ofTrace().find((span) => span.name === name)
    // A span arrives when it ends, so the outermost span comes last.
    const isWhole = () => {
      const call = named('rpc eth_sendRawTransaction')
      return call !== undefined && ancestors(ofTrace(), call).at(-1) === 'submit'
    }
    await until(isWhole, { timeoutMs: 60_000, what: `the whole trace of ${id}` })
    const start = ofTrace().find((span) => span.spanId === parentSpanId)!
    expect(start.name).toBe('StartWorkflow:transfer')
    expect(ancestors(ofTrace(), start)).toContain('submit')
    expect(named('submit')!.parentSpanId).toBe('')
    const sent = ancestors(ofTrace(), named('rpc eth_sendRawTransaction')!)
    expect(sent.some((name) => /^RunActivity:broadcast(Locally)?$/.test(name))).toBe(true)
    expect(sent.slice(-3)).toEqual(['RunWorkflow:transfer', 'StartWorkflow:transfer', 'submit'])
    expect(ofTrace().filter((span) => span.parentSpanId === spanId).length).toBeGreaterThanOrEqual(2)
    const isLogged = async () => (await sentLines()).some((line) => line.includes(`"trace_id":"${traceId}"`))
    await until(isLogged, { timeoutMs: 60_000, what: `the log line of ${id}` })
  }
  const roots = receiver.spans.filter((span) => span.parentSpanId === '').map(({ name }) => name)
  expect([...new Set(roots)]).toEqual(['submit'])
  expect(receiver.spans[0]!.resource).toMatchObject({ 'service.name': 'portage', 'portage.role': 'all' })
}

function ancestors(spans: readonly ReceivedSpan[], { parentSpanId }: ReceivedSpan): string[] {
  const parent = spans.find(({ spanId }) => spanId === parentSpanId)
  return parent ? [parent.name, ...ancestors(spans, parent)] : []
}
