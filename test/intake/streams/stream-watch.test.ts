import { expect, test } from 'vitest'
import { createStreamWatch } from '../../../intake/streams/signed/agent.ts'
import { handlesClient } from '../../helpers/handles-client.ts'

test('a change is found again until it is dealt with, and then once', async () => {
  let historyLength = 3
  const client = handlesClient(() => ({ describe: async () => ({ runId: 'a run', historyLength, status: { name: 'RUNNING' } }) }))
  const watch = createStreamWatch(client, 'a stream', 0)
  // Whoever found it could not read the stream.
  expect(await watch()).toBeDefined()
  const dealtWith = await watch()
  expect(dealtWith).toBeDefined()
  // It was told more while it was read.
  historyLength = 6
  dealtWith?.()
  const again = await watch()
  expect(again).toBeDefined()
  again?.()
  expect(await watch()).toBeUndefined()
})
