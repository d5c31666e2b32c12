import { describe, expect, test } from 'vitest'
import { applyToStream, initialStream, viewStream } from '../../../domain/stream/reducer.ts'
import type { StreamConfig, StreamRequest, StreamState } from '../../../domain/stream/stream.ts'
import { unresolvedRuns } from '../../../domain/stream/succession.ts'
import { createLogger } from '../../../observability/logger.ts'
import { createSuccession } from '../../../intake/streams/signed/succession.ts'
import { streamWorkflowId } from '../../../temporal/contracts/stream.ts'
import { handlesClient } from '../../helpers/handles-client.ts'
import { fakeStream } from './fake-context.ts'

const emitter = 'ec'.repeat(32)
const configOf = (chain: string): StreamConfig => ({
  ...{ stream: `wormhole-token-bridge:${chain}:${emitter}`, origin: `${chain}/x`, first: '0', maxOpen: 10, sourceId: '2' },
})
const after = (state: StreamState, ...requests: StreamRequest[]) => applyToStream(state, { requests }, 5).state

/** 0 to 4 are delivered, 5 is open, 6 and 7 are missing, 8 is open. */
const genuine = (chain: string) =>
  after(initialStream(configOf(chain)), {
    ...{ kind: 'seen', numbers: ['0', '1', '2', '3', '4', '5', '8'].map((number) => [number] as const), delivered: [['0', '4']] },
  })
/** Made up: 0 is missing, and all others that there can be are resolved. */
const forged = (next: bigint): StreamState => ({
  ...after(initialStream(configOf('stranger')), { kind: 'audited', upTo: '0', height: 0, present: [] }),
  next: String(next),
})

/** The stream of `ethereum` among those that run. */
function setUp(running: readonly StreamState[], { highest, own }: { highest?: string; own?: StreamState }) {
  const ended: string[] = []
  const lines: Record<string, unknown>[] = []
  const byId = new Map(running.map((state) => [streamWorkflowId(state.config.stream), state]))
  const client = handlesClient((id) => {
    const state = byId.get(id)
    if (!state) return {}
    return {
      query: async () => JSON.parse(JSON.stringify(state)) as unknown,
      describe: async () => ({ runId: 'a run', historyLength: 3, status: { name: 'RUNNING' } }),
      terminate: async () => void ended.push(state.config.stream),
    }
  })
  const config = configOf(highest === undefined ? 'wormhole-2' : 'ethereum')
  const logger = createLogger({ destination: { write: (text) => void lines.push(JSON.parse(text) as Record<string, unknown>) } })
  const source = { config, highest: async () => highest, ...(highest === undefined && { withoutNode: { judges: [] } }) }
  const streams = async () => running.map((state) => state.config.stream)
  // Of no length: what did not move between two looks is fed by nobody.
  const succession = createSuccession({ source, client, logger, auditMs: 0, streams })
  const { streamClient } = fakeStream(config)
  streamClient.now = own
  const warned = () => lines.filter(({ level }) => level === 'warn')
  return {
    succession,
    streamClient,
    ended,
    lines,
    warned,
    twice: async () => [await succession.look(streamClient), await succession.look(streamClient)],
  }
}

describe('a source with a node, and a stranger who starts a stream of its numbers', () => {
  test('begins with nothing of one that claims more than the source has given out', async () => {
    const { succession, warned } = setUp([forged(2n ** 64n - 1n)], { highest: '8' })
    expect(await succession.begin()).toBeUndefined()
    expect(warned()).toMatchObject([{ code: 'STREAM_FOREIGN', predecessor: configOf('stranger').stream, highest: '8' }])
  })

  test('begins with the genuine one beside it, of which no number is lost, whatever the other claims', async () => {
    for (const next of [9n, 2n ** 64n - 1n]) {
      const { succession } = setUp([forged(next), genuine('wormhole-2')], { highest: '8' })
      const begun = (await succession.begin())?.state as StreamState
      expect(unresolvedRuns(begun)).toEqual([...(next === 9n ? [[0n, 0n]] : []), [5n, 8n]])
      expect(begun.next).toBe('9')
    }
  })

  test('stays as it is, and ends none that claims more', async () => {
    const own = genuine('ethereum')
    const { streamClient, ended, warned, twice } = setUp([forged(2n ** 64n - 1n)], { highest: '8', own })
    await twice()
    expect([streamClient.now, ended]).toEqual([own, []])
    expect(warned()).toMatchObject([{ code: 'STREAM_FOREIGN' }])
  })

  test('waits for its own count where an older one knows of more, and then ends it', async () => {
    const own = after(initialStream(configOf('ethereum')), { kind: 'audited', upTo: '7', height: 1, present: [] })
    const { succession, streamClient, ended, warned } = setUp([genuine('wormhole-2')], { highest: '8', own })
    await succession.look(streamClient)
    expect([streamClient.now, ended, warned()]).toEqual([own, [], []])
    await streamClient.apply([{ kind: 'audited', upTo: '8', height: 2, present: [] }])
    await succession.look(streamClient)
    expect(ended).toEqual([configOf('wormhole-2').stream])
  })

  test('ends none with open numbers below its first one, and says which, and how to', async () => {
    const late = initialStream({ ...configOf('ethereum'), first: '6' })
    const own = after(late, { kind: 'audited', upTo: '8', height: 1, present: [] })
    const { ended, warned, twice } = setUp([genuine('wormhole-2')], { highest: '8', own })
    await twice()
    expect(ended).toEqual([])
    const id = streamWorkflowId(configOf('wormhole-2').stream)
    expect(warned()).toMatchObject([
      { code: 'PREDECESSOR_OPEN', numbers: '5', command: expect.stringContaining(`temporal workflow terminate --workflow-id ${id} `) },
    ])
  })
})

describe('a source that nobody counts', () => {
  test('takes up again what an older stream has not resolved, before it ends that', async () => {
    // Whoever reaches Temporal has started it: all is resolved.
    const own: StreamState = { ...initialStream(configOf('wormhole-2')), next: '8' }
    const { succession, streamClient, ended } = setUp([genuine('ethereum')], { own })
    await succession.look(streamClient)
    expect([streamClient.now, ended]).toEqual([own, []])
    await succession.look(streamClient)
    expect(unresolvedRuns(streamClient.now!)).toEqual([[5n, 8n]])
    expect(viewStream(streamClient.now!).completedNumber).toBe('4')
    expect(ended).toEqual([configOf('ethereum').stream])
  })

  test('takes no more than some thousands by the word of another, and ends that one not', async () => {
    const own = genuine('wormhole-2')
    const { streamClient, ended, warned, twice } = setUp([forged(2n ** 64n - 1n)], { own })
    await twice()
    const now = streamClient.now!
    expect([now.next, unresolvedRuns(now), ended]).toEqual([
      '9',
      [
        [0n, 0n],
        [5n, 8n],
      ],
      [],
    ])
    expect(warned()).toMatchObject([{ code: 'PREDECESSOR_OPEN', numbers: `9-${2n ** 64n - 2n}` }])
  })
})
