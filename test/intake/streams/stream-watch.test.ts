import { expect, test } from 'vitest'
import { createStreamWatch } from '../../../intake/streams/signed/agent.ts'
import { handlesClient } from '../../helpers/handles-client.ts'

test('a change of a stream is reported until it is handled', async () => {
  let historyLength = 3
  const client = handlesClient(() => ({ describe: async () => ({ runId: 'a run', historyLength, status: { name: 'RUNNING' } }) }))
  const watch = createStreamWatch(client, 'a stream', 0)
  // Like a caller that could not read the stream, do not call the returned function.
  expect(await watch()).toBeDefined()
  const dealtWith = await watch()
  expect(dealtWith).toBeDefined()
  historyLength = 6
  dealtWith?.()
  const again = await watch()
  expect(again).toBeDefined()
  again?.()
  expect(await watch()).toBeUndefined()
})
