import type { Client } from '@temporalio/client'
import { expect, test } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { StreamClient } from '../../streams/stream-client.ts'
import { createLogger } from '../../observability/logger.ts'

test('a Temporal that is away is told once, and not at each try', async () => {
  // A real client tries for ten seconds by itself before it says this.
  const executeUpdate = () => Promise.reject(new Error('14 UNAVAILABLE'))
  const lines: { level: string; message: string }[] = []
  const logger = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) } })
  const streamClient = new StreamClient({
    client: { workflow: { getHandle: () => ({ executeUpdate }) } } as unknown as Client,
    config: { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 0, maxOpen: 10 },
    logger,
  })
  const told = streamClient.apply([{ kind: 'resume' }]).catch((error: unknown) => error)
  const tries = () => lines.filter(({ message }) => message === 'a workflow did not answer; the update is sent again').length
  await until(() => tries() >= 4, { timeoutMs: 15_000, what: 'four tries' })
  streamClient.close()
  expect(await told).toMatchObject({ code: 'STREAM_UNREACHABLE' })
  expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    'a workflow did not answer; the update is sent again',
  ])
})
