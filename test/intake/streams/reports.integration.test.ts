import { defaultPayloadConverter } from '@temporalio/common'
import { Client, Connection } from '@temporalio/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { type TemporalServer } from '../../../lab/devnet/temporal/temporal.ts'
import { until } from '../../../lab/devnet/until.ts'
import { listStreams } from '../../../intake/streams/reports.ts'
import { startTestTemporal } from '../../helpers/temporal.ts'
import { cleanUp } from '../../helpers/clean-up.ts'

describe('A list of streams', () => {
  let server: TemporalServer
  let connection: Connection
  let client: Client

  beforeAll(async () => {
    server = await startTestTemporal()
    connection = await Connection.connect({ address: server.address })
    cleanUp(() => connection.close())
    client = new Client({ connection, namespace: server.namespace })
  })

  /** Starts a run under the stream's id. The returned function answers the next query of this run with `answer`. */
  async function forge(stream: string, answer: unknown): Promise<() => Promise<void>> {
    const { namespace } = server
    const identity = 'a forger'
    await client.workflow.start('stream', { workflowId: `stream:${stream}`, taskQueue: stream, args: [] })
    const poll = () =>
      connection.withDeadline(Date.now() + 120_000, () =>
        client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: stream }, identity }),
      )
    const { taskToken } = await poll()
    await client.workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, identity, commands: [] })
    return async () => {
      const asked = await poll()
      const queryResult = { payloads: [defaultPayloadConverter.toPayload(answer)] }
      // temporal.api.enums.v1.QueryResultType.QUERY_RESULT_TYPE_ANSWERED.
      const answered = { namespace, taskToken: asked.taskToken, completedType: 1, queryResult }
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
      await client.workflowService.respondQueryTaskCompleted(answered)
    }
  }

  test('a list of streams shows a run that answers with junk, and all other streams', async () => {
    const answers = [await forge('junk', 7), await forge('worse', { open: 'none' })]
    const listed = async () => (await client.workflow.count(`WorkflowType = 'stream'`)).count === answers.length
    await until(listed, { timeoutMs: 60_000, what: 'both to be listed' })
    const [rows] = await Promise.all([listStreams(client, () => undefined), ...answers.map((answer) => answer())])
    const problem = expect.stringMatching(/^Something unexpected happened/) as string
    expect(rows).toEqual([
      { stream: 'junk', problem },
      { stream: 'worse', problem },
    ])
  })
})
