import { defaultFailureConverter, defaultPayloadConverter, type Payload } from '@temporalio/common'
import { expect, test } from 'vitest'
import { describeOpenRun } from '../../temporal/client/visibility/runs.ts'

test('the failure of a pending activity is decrypted only where its message is shown', async () => {
  let decoded = 0
  const payloadCodec = {
    encode: async (payloads: Payload[]) => payloads,
    async decode(payloads: Payload[]) {
      decoded++
      return payloads
    },
  }
  const failure = {
    message: 'Encoded failure',
    applicationFailureInfo: { type: 'NODE_REFUSED' },
    encodedAttributes: defaultPayloadConverter.toPayload({ message: 'the node said no', stack_trace: '' }),
  }
  const run = {
    ...{ runId: 'r', type: 'transfer', status: { name: 'RUNNING' }, startTime: new Date(0), typedSearchAttributes: new Map() },
    raw: { pendingActivities: [{ attempt: 1 }, { attempt: 7, lastFailure: failure }] },
  }
  const client = {
    workflow: { getHandle: () => ({ describe: async () => run }) },
    options: {
      namespace: 'default',
      loadedDataConverter: {
        payloadConverter: defaultPayloadConverter,
        failureConverter: defaultFailureConverter,
        payloadCodecs: [payloadCodec],
      },
    },
  } as unknown as Parameters<typeof describeOpenRun>[0]
  const open = await describeOpenRun(client, { workflowId: 'w' })
  expect(open).toMatchObject({ activity: { tries: 7, code: 'NODE_REFUSED' } })
  expect(decoded).toBe(0)
  expect(await open?.activity?.message()).toBe('the node said no')
  expect(decoded).toBeGreaterThan(0)
})
