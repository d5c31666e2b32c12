import { expect, test } from 'vitest'
import type { Config } from '../../../config/schema/schema.ts'
import { readFailing, readLanes, readStreams } from '../../../operations/causes/read-ledgers.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { unpolled } from './facts.ts'

const all = Array.from({ length: 250 }, (_, index) => index)

/** A Temporal with one stream per number. The workflow tasks of all streams fail. */
function setting() {
  let [now, most] = [0, 0]
  const asked = async <Answer>(answer: Answer) => {
    most = Math.max(most, ++now)
    await new Promise((done) => setTimeout(done, 1))
    now -= 1
    return answer
  }
  const run = {
    status: { name: 'RUNNING' },
    startTime: new Date(0),
    raw: { pendingWorkflowTask: { attempt: 9 } },
    typedSearchAttributes: new Map(),
  }
  const client = {
    withDeadline: <Answer>(_: number, work: () => Promise<Answer>) => work(),
    workflow: {
      async *list() {
        for (const index of all) yield { workflowId: `stream:s-${index}` }
      },
      getHandle: () => ({ query: () => asked({}), describe: () => asked(run) }),
    },
  } as unknown as TemporalClient
  return { client, most: () => most }
}

test('portage stuck asks every lane of the config, and at most 50 at a time', async () => {
  const { client, most } = setting()
  const lanes = all.map((index) => ({ address: `0x${index.toString(16).padStart(40, '0')}` }))
  const config = { chains: { bsc: { family: 'evm', networkId: 56, lanes } } } as unknown as Pick<Config, 'chains'>
  const facts = await readLanes(client, config, async () => unpolled)
  expect(new Set(facts.map(({ lane }) => lane)).size).toBe(all.length)
  expect(facts.every(({ ledger }) => 'value' in ledger)).toBe(true)
  expect(most()).toBe(50)
})

test('portage stuck asks every stream, and every workflow whose tasks could fail', async () => {
  const { client, most } = setting()
  expect(await readStreams(client)).toHaveLength(all.length)
  expect(await readFailing(client)).toHaveLength(all.length)
  expect(most()).toBe(50)
})
