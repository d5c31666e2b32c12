import { Client, Connection, type WorkflowExecutionInfo } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../observability/logger.ts'
import { createUnderWay } from '../../intake/streams/signed/gaps/under-way.ts'
import { createParkedRounds } from '../../intake/streams/parked-rounds.ts'
import { initialStream } from '../../domain/stream/reducer.ts'
import { endedSince, parkedPage, runningTransfers, undeliveredSince, waitingPage } from '../../temporal/client/streams/stream-transfers.ts'
import { runningLanes } from '../../temporal/client/lanes/lanes.ts'
import { listStreamNames } from '../../temporal/client/streams/streams.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import { unused } from '../helpers/unused.ts'

const emitter = '33'.padStart(64, '0')
const of = { bridge: 'wormhole-token-bridge' as const, sourceChain: 'a', emitter }
const digest = 'ab'.repeat(8)
const good = `wormhole-token-bridge:2:${emitter}:7:${digest}`
const highest = `wormhole-token-bridge:2:${emitter}:18446744073709551615:${digest}`
/** A stranger with access to Temporal could give these ids to runs. */
const junk = [
  '',
  'x',
  `x:2:${emitter}:junk`,
  ...['junk', '', '-1', '1.5', '0x10', '007', ' 7', '1e3', '18446744073709551616', '9'.repeat(30)].map(
    (number) => `wormhole-token-bridge:2:${emitter}:${number}:${digest}`,
  ),
  `native-bridge:2:${emitter}:8:${digest}`,
  `wormhole-token-bridge:2:${'44'.padStart(64, '0')}:8:${digest}`,
  `wormhole-token-bridge::${emitter}:8:${digest}`,
  `wormhole-token-bridge:2:${emitter}:8`,
  `wormhole-token-bridge:2:${emitter}:8:${digest}:0.5`,
  `wormhole-token-bridge:2:${emitter}:8:${'XY'.repeat(8)}`,
  `wormhole-token-bridge:2:${emitter}:8:${digest}ab`,
]

const listed: unknown = { code: 1, name: 'RUNNING' }
const running = listed as WorkflowExecutionInfo['status']

function clientWith(ids: readonly string[], state = 'parked'): Client {
  const client = new Client({ connection: Connection.lazy() })
  const run = (workflowId: string): WorkflowExecutionInfo => ({
    ...{ type: 'transfer', workflowId, runId: `run of ${workflowId}`, taskQueue: 'nobody' },
    ...{ status: running, historyLength: 3, startTime: new Date(0), searchAttributes: {} },
    typedSearchAttributes: new TypedSearchAttributes([{ key: searchAttributes.TransferState, value: state }]),
    raw: {},
  })
  client.workflow.list = () => {
    const runs = (async function* () {
      yield* ids.map(run)
    })()
    return Object.assign(runs, { intoHistories: unused('intoHistories') })
  }
  return client
}

describe('runs with ids that no transfer of the stream can have', () => {
  const client = clientWith([...junk, good, highest])

  test.each([
    ['that run', () => runningTransfers(client, of)],
    ['that wait', async () => (await waitingPage(client, of, 100)).listed],
    ['that are parked', async () => (await parkedPage(client, of, 100)).listed],
    ['that ended undelivered', () => undeliveredSince(client, of, 0)],
    ['that ended', () => endedSince(client, of, 0)],
  ])("a stream's list of the transfers %s leaves out runs with impossible ids", async (_, list) => {
    expect((await list()).map(({ number, id }) => [number, id])).toEqual([
      ['7', good],
      ['18446744073709551615', highest],
    ])
  })

  test('runs with impossible ids stop neither the list of open nor that of parked transfers', async () => {
    const underWay = createUnderWay({ source: of, client, logger: silentLogger(), proved: { own: async (listed) => listed } })
    expect(await underWay.of(['7', '8'])).toEqual(new Map([['7', good]]))
    const state = initialStream({ stream: 's', origin: '1/0xaa', first: '0', maxOpen: 10 })
    const step = await createParkedRounds(client, of).list(state)
    expect(step.end(new Set(), 10)).toEqual([])
  })

  test('a list shows no state that Portage does not know', async () => {
    expect(await runningTransfers(clientWith([good], '__proto__'), of)).toMatchObject([{ number: '7', state: 'admitting' }])
  })
})

test('runs of the types `stream` and `lane` under other ids are neither', async () => {
  const client = clientWith(['junk', 'stream:a:b:c', 'lane:evm:1:0xaa', 'str'])
  expect(await listStreamNames(client)).toEqual(['a:b:c'])
  expect([...(await runningLanes(client, []))]).toEqual(['evm:1:0xaa'])
})
