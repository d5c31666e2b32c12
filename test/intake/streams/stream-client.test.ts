import { Client, Connection } from '@temporalio/client'
import { expect, test } from 'vitest'
import { applyToStream, initialStream } from '../../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../../domain/stream/request.ts'
import type { StreamConfig, StreamRequest, StreamUpdate } from '../../../domain/stream/stream.ts'
import { StreamClient } from '../../../intake/streams/stream-client.ts'
import { silentLogger } from '../../../observability/logger.ts'

const config: StreamConfig = { stream: 's', origin: 'o', first: '0', maxOpen: 100 }

test('a long list of requests becomes several updates, in order, with an answer for each request', async () => {
  const client = new Client({ connection: Connection.lazy() })
  const updates: number[] = []
  let state = initialStream(config)
  const executeUpdate = async (_: unknown, { args: [update] }: { args: [StreamUpdate] }) => {
    assertStreamUpdate(update)
    updates.push(update.requests.length)
    const step = applyToStream(state, update, 1)
    state = step.state
    return step.response
  }
  client.workflow.getHandle = () => ({ executeUpdate }) as never
  const streamClient = new StreamClient({ client, config, logger: silentLogger() })
  const numbers = Array.from({ length: 700 }, (_, index) => String(index))
  const seen: StreamRequest = { kind: 'seen', numbers: numbers.map((number) => [number]), delivered: [['100', '699']] }
  const closed = numbers.map((number): StreamRequest => ({ kind: 'closed', number, outcome: 'rejected', reason: 'test' }))
  const response = await streamClient.apply([seen, ...closed])
  streamClient.close()
  expect(updates).toEqual([300, 300, 101])
  expect(response?.answers).toHaveLength(701)
  expect(response?.answers.filter(({ kind }) => kind === 'done')).toHaveLength(101)
  expect(response?.view).toMatchObject({ open: 0, counts: { completed: 600, rejected: 100 } })
})
