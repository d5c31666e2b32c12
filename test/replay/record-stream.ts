import { type StreamInput, streamWorkflowId } from '../../temporal/contracts/stream.ts'
import { until } from '../../lab/devnet/until.ts'
import { StreamClient } from '../../intake/streams/stream-client.ts'
import { silentLogger } from '../../observability/logger.ts'
import { runTemporalCli } from '../helpers/e2e-cli.ts'
import { startLedgers } from '../lanes/setting.ts'
import type { Keep } from './record.ts'

/** Records two runs of a stream up to their continue-as-new. The first begins with a checkpoint. */
export async function recordStreams(keep: Keep): Promise<void> {
  const ledgers = await startLedgers()
  const { client } = ledgers.temporal
  const config = { stream: 'native-bridge:ethereum:bsc', origin: '1/0xaa', first: '1', start: 10, maxOpen: 5 }
  const checkpoint = {
    version: 1 as const,
    stream: config.stream,
    origin: config.origin,
    completedNumber: '2',
    completedHeight: 19,
    exceptions: [],
  }
  const begin = () => Promise.resolve<StreamInput>({ config, checkpoint, updatesPerRun: 4 })
  const streamClient = new StreamClient({ client, config, logger: silentLogger(), begin })
  const workflowId = streamWorkflowId(config.stream)
  const hash = (height: number) => `0x${height.toString(16).padStart(64, '0')}`
  const scanned = (from: number, to: number, numbers: (readonly [string, number])[], parentHash = hash(from - 1)) =>
    ({ kind: 'scanned', from, to, parentHash, hash: hash(to), numbers, passed: [] }) as const
  const runOf = async () => (await client.workflow.getHandle(workflowId).describe()).runId
  const nextRun = (last: string) =>
    until(async () => (await runOf()) !== last && runOf(), { timeoutMs: 20_000, what: 'the stream to go on in a new run' })
  try {
    await streamClient.apply([{ kind: 'completed', numbers: [], from: 5, to: 5 }])
    const first = await runOf()
    await streamClient.apply([scanned(30, 30, [['5', 30]])])
    await streamClient.apply([{ kind: 'skip', number: '99', by: 'operator', reason: 'a recording' }])
    await client.workflow.getHandle(workflowId).signal('pause', { by: 'operator', reason: 'a recording' })
    await client.workflow.getHandle(workflowId).signal('resume')
    await streamClient.apply([{ kind: 'backfilled', from: 20, to: 29, numbers: [['3', 21]], passed: [] }])
    const second = await nextRun(first)
    await streamClient.apply([{ kind: 'audited', upTo: '5', height: 30, present: [['4', '4']] }])
    await streamClient.apply([{ kind: 'seen', numbers: [['4']], delivered: [['4', '4']] }])
    await streamClient.apply([scanned(31, 32, [], hash(77))])
    await streamClient.apply([{ kind: 'reread', block: { height: 25, hash: hash(25) }, by: 'portage' }])
    await nextRun(second)
    const temporal = (...args: string[]) => runTemporalCli(ledgers.server, args)
    await keep('stream-first-run', { temporal }, workflowId, first)
    await keep('stream-continued-run', { temporal }, workflowId, second)
  } finally {
    streamClient.close()
    await ledgers.stop()
  }
}
