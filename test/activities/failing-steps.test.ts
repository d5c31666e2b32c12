import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { describe, expect, test } from 'vitest'
import { createChainSteps } from '../../activities/index.ts'
import { type ErrorCode, RelayerError, waitsForItself } from '../../domain/catalogue/errors.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { failingChains } from '../../operations/causes/explain-transfers.ts'
import type { TransferFacts } from '../../operations/causes/facts.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeEndpoint } from './fake-bridge.ts'

interface Scene {
  readonly fails: () => Promise<never>
  readonly step?: 'admit' | 'validate' | 'prepare'
  readonly attempt?: number
  /** Timestamps that most nodes show, one after another, while the step fails. */
  readonly times?: readonly number[]
  readonly timesOfSource?: readonly number[]
  /** Time by Temporal's clock, ms since the epoch. */
  readonly temporalMs?: number
}

const refused = (code: ErrorCode, facts = {}) => new RelayerError(code, { detail: 'missing trie node', facts })

/** Runs a failing step. An earlier failing step first makes the process follow the heads. */
async function run(scene: Scene) {
  const { fails, step = 'prepare', attempt = 3, times = [8, 9], timesOfSource = [8, 9], temporalMs = Date.now() } = scene
  const released: string[] = []
  const chainWith = (shown: readonly number[]) => {
    const listeners: ((head: { time: number }) => void)[] = []
    const publish = () => shown.forEach((time) => listeners.forEach((listener) => listener({ time })))
    return {
      publish,
      chain: { heads: { current: { time: 8 }, subscribe: (listener: (typeof listeners)[number]) => listeners.push(listener) } },
    }
  }
  const [target, source] = [chainWith(times), chainWith(timesOfSource)]
  const steps = createChainSteps({
    bridges: bridgesWith(fakeEndpoint({ validate: fails, demandSigned: fails, release: ({ sequence }) => released.push(sequence) })),
    chains: new Map([
      ['bsc', target.chain],
      ['ethereum', source.chain],
    ]),
    lanes: new Map([['bsc', {}]]),
    settings: () => noSettings,
  } as never)
  const begin = (tries: number) => {
    const input = { transfer: { ...nativeTransfer(), sourceChain: 'ethereum', targetChain: 'bsc' } }
    const workflowExecution = { workflowId: transferId(input.transfer), runId: '1' }
    const info = {
      attempt: tries,
      activityType: step,
      scheduledTimestampMs: temporalMs - 3_000,
      currentAttemptScheduledTimestampMs: temporalMs,
      startToCloseTimeoutMs: 5_050,
      workflowExecution,
    }
    return new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') }).run(steps[step], input as never)
  }
  await begin(1).catch(() => {})
  target.publish()
  source.publish()
  return { answer: await begin(attempt).catch((error: unknown) => error), released }
}

describe('After the third failure of a durable step on a chain that makes blocks', () => {
  test.each([-3_600_000, 3_600_000])("a transfer waits although Temporal's clock differs by %i ms", async (differenceMs) => {
    const fails = async () => Promise.reject(refused('NODES_DISAGREE'))
    const { answer } = await run({ fails, temporalMs: Date.now() + differenceMs })
    expect(answer).toMatchObject({ kind: 'waiting', code: 'NODES_DISAGREE' })
  })

  test.each([
    ['nodes that refuse', refused('NODE_REFUSED'), 'NODE_REFUSED'],
    ['nodes that do not answer in time', refused('NODE_UNAVAILABLE'), 'NODE_UNAVAILABLE'],
    ['nodes that disagree', refused('NODES_DISAGREE'), 'NODES_DISAGREE'],
    ['an error that nobody expects', new TypeError('missing trie node'), 'INTERNAL'],
  ])('after three failures, a transfer waits, frees its reservation, and can be ended by an order: %s', async (_, error, code) => {
    const { answer, released } = await run({ fails: async () => Promise.reject(error) })
    expect(answer).toMatchObject({ kind: 'waiting', code, reason: expect.stringContaining('missing trie node') })
    expect(answer).not.toHaveProperty('unverified')
    expect(released).toEqual(['1'])
    expect(waitsForItself(code)).toBe(true)
  })

  test('a transfer also waits if its step never ends, and the reason names the step, not the nodes', async () => {
    const { answer } = await run({ fails: async () => new Promise<never>(() => {}) })
    expect(answer).toMatchObject({ kind: 'waiting', code: 'STEP_LATE', reason: 'It did not end within 50 ms. (step=prepare)' })
    expect(waitsForItself('STEP_LATE')).toBe(true)
    expect(failingChains([{ code: 'STEP_LATE', tries: 9, targetChain: 'bsc' } as TransferFacts])).toEqual([])
  })

  test('a message whose check failed stays unverified, so that no copy replaces another', async () => {
    const { answer } = await run({ step: 'validate', fails: async () => Promise.reject(refused('NODES_DISAGREE')) })
    expect(answer).toMatchObject({ kind: 'waiting', code: 'NODES_DISAGREE', unverified: true })
  })
})

test.each<[string, Partial<Scene>, ErrorCode]>([
  ['it is the second try', { attempt: 2 }, 'NODE_REFUSED'],
  ['it is the local try, which durable ones follow', { step: 'admit' }, 'NODE_REFUSED'],
  ['the chain makes no block', { times: [] }, 'NODE_REFUSED'],
  ['most nodes of the chain are away', { times: [8, 8] }, 'NODE_UNAVAILABLE'],
  ['the source makes no block', { timesOfSource: [] }, 'NODE_REFUSED'],
  ['the error is no fault of this transfer', {}, 'IRIS_UNAVAILABLE'],
  ['no try can succeed', {}, 'TARGET_CHAIN_UNSUPPORTED'],
])('Temporal retries a failed step if %s', async (_, scene, code) => {
  const { answer, released } = await run({ ...scene, fails: async () => Promise.reject(refused(code)) })
  expect(answer).toMatchObject({ type: code })
  expect(released).toEqual([])
})

test('only the chain whose nodes failed must make blocks, if the error names one', async () => {
  const fails = async () => Promise.reject(refused('NODE_UNAVAILABLE', { chain: 'bsc' }))
  expect((await run({ fails, timesOfSource: [] })).answer).toMatchObject({ kind: 'waiting' })
  expect((await run({ fails, times: [] })).answer).toMatchObject({ type: 'NODE_UNAVAILABLE' })
})
