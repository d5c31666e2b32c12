import { Client, Connection } from '@temporalio/client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { initialStream } from '../../domain/stream/reducer.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import { silentLogger } from '../../observability/logger.ts'
import { createOutcomeReporter } from '../../streams/transfer-outcomes.ts'
import type { parkedAndEnded } from '../../temporal/client/stream-transfers.ts'

const secondMs = 1_000
const minuteMs = 60 * secondMs

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-11-21T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

/** A reporter of a stream with these numbers open, and a visibility store that shows a transfer so long after it ended. */
function reporter(lagMs: number, ...numbers: string[]) {
  const closedAt = new Map<string, number>()
  const recorded: string[] = []
  const list: typeof parkedAndEnded = async (_, __, since) =>
    [...closedAt]
      .filter(([, at]) => at >= since && at + lagMs <= Date.now())
      .map(([number]) => ({ number, id: number, runId: number, state: 'delivered', running: false }))
  const config = { stream: 's', origin: '1/0xaa', first: '0', maxOpen: 10 }
  const state: StreamState = { ...initialStream(config), next: '9', open: numbers.map((number) => ({ number })) }
  const streamClient = {
    apply: async (requests: readonly StreamRequest[]) => {
      for (const request of requests) if (request.kind === 'seen') recorded.push(...request.numbers.map(([number]) => number))
      return undefined
    },
  }
  const source = { bridge: 'native-bridge' as const, sourceChain: 'a', config }
  const client = new Client({ connection: Connection.lazy() })
  const outcomes = createOutcomeReporter({ source, streamClient, client, logger: silentLogger() }, list)
  return { recorded, look: () => outcomes.look(state), ends: (number: string, at: number) => void closedAt.set(number, at) }
}

it('a transfer that the visibility store shows a minute after its end is recorded by a later look', async () => {
  const { recorded, look, ends } = reporter(minuteMs - 4 * secondMs, '1')
  ends('1', Date.now())
  const lookedFor = 70 * secondMs
  for (let passed = 0; passed < lookedFor; passed += 4 * secondMs) {
    await look()
    vi.advanceTimersByTime(4 * secondMs)
  }
  expect(recorded).toContain('1')
})

it('the first look finds what ended in the hour before, while the agent was away, and leaves the rest to the audit', async () => {
  const now = Date.now()
  const { recorded, look, ends } = reporter(0, '1', '2')
  ends('1', now - 59 * minuteMs)
  ends('2', now - 61 * minuteMs)
  await look()
  expect(recorded).toEqual(['1'])
})
