import { WorkflowNotFoundError } from '@temporalio/client'
import { expect, test, vi } from 'vitest'
import { applyToStream, initialStream } from '../../../domain/stream/reducer.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { auditOnce } from '../../../intake/streams/scanned/agent.ts'
import type { ScannedDeps } from '../../../intake/streams/scanned/context.ts'
import { unused } from '../../helpers/unused.ts'
import { fakeChain, fakeSource } from './fake-context.ts'

const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 0, maxOpen: 10 }

function endedMeanwhile() {
  const gone = async () => {
    throw new WorkflowNotFoundError('workflow execution already completed', config.stream, undefined)
  }
  const { state } = applyToStream(initialStream(config), { requests: [] }, 5)
  const handle = { query: async () => state, executeUpdate: gone }
  const executeUpdateWithStart = vi.fn(gone)
  const client = {
    withDeadline: (_: number, work: () => Promise<unknown>) => work(),
    workflow: { getHandle: () => handle, executeUpdateWithStart },
  }
  const chains = { sourceChain: fakeChain(20), targets: new Map([['b', { chain: fakeChain(20) }]]) }
  const rest = {
    source: fakeSource(config),
    submitter: {},
    haltRoute: unused('haltRoute'),
    logger: silentLogger(),
    rangeBlocks: 10,
  }
  return { deps: { ...chains, ...rest, client } as unknown as ScannedDeps, executeUpdateWithStart }
}

test('an audit without an answer of its stream ends at its deadline, or when the process stops', async () => {
  const late = endedMeanwhile()
  await expect(auditOnce(late.deps, { deadlineMs: 100 })).rejects.toMatchObject({
    code: 'STREAM_AUDIT_UNENDED',
    message: expect.stringContaining('It has not ended within 1 s.') as string,
    facts: { stream: config.stream },
  })

  const stopping = new AbortController()
  const { deps, executeUpdateWithStart } = endedMeanwhile()
  const audited = auditOnce(deps, { stopping: stopping.signal })
  audited.catch(() => {})
  await vi.waitFor(() => expect(executeUpdateWithStart).toHaveBeenCalled())
  stopping.abort()
  await expect(audited).rejects.toMatchObject({
    code: 'STREAM_AUDIT_UNENDED',
    message: expect.stringContaining('This process is stopping.') as string,
  })
  await expect(auditOnce(deps, { stopping: stopping.signal })).rejects.toMatchObject({ code: 'STREAM_AUDIT_UNENDED' })
})
