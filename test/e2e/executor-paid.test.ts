import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExecutionWish } from '../../lab/devnet/executor/network.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const one = 10n ** 8n
const wishes: readonly ExecutionWish[] = [
  { form: 'plain', paidFor: { kind: 'ntt', amount: one } },
  { form: 'dropOffAlone', paidFor: { kind: 'ntt', amount: 1_001n * one } },
  { form: 'dropOffAlone', paidFor: { kind: 'burnV1', amount: 1_000_001n } },
  { form: 'plain', paidFor: { kind: 'burnV2', amount: 1_000_002n } },
  { form: 'dropOffAlone', paidFor: { kind: 'burnV2', amount: 1_000_003n } },
  // These payments are one wei too low, so Portage must not deliver for them.
  { form: 'plain', underpaid: true, paidFor: { kind: 'ntt', amount: 2n * one } },
  { form: 'plain', underpaid: true, paidFor: { kind: 'burnV1', amount: 2_000_001n } },
  { form: 'plain', underpaid: true, paidFor: { kind: 'burnV2', amount: 2_000_002n } },
]

describe('Requests for transfers of NTT and CCTP, paid for with quotes of this Portage', () => {
  let stage: Stage
  let portage: PortageProcess

  beforeAll(async () => {
    stage = await startStage({ executor: true, cctp: {}, ntt: { transceivers: 2, inboundLimit: 1_000n, rateLimitSeconds: 5 } })
    portage = await stage.portage()
    await stage.devnet.executor!.askQuotes([portage.apiUrl])
  })

  afterAll(() => stage?.close())

  test('paid transfers of NTT and CCTP are delivered once, both ways, and underpaid ones cost nothing', async () => {
    const { users } = stage.devnet.executor!
    const sent = (await Promise.all([users.ethereum.send(wishes), users.bsc.send(wishes)])).flat()
    expect(sent).toHaveLength(10)
    const check = () => stage.devnet.check(sent)
    await until(async () => (await check()).delivered === sent.length, { timeoutMs: 90_000, everyMs: 500, what: 'all deliveries' })
    const ids = async (outcome: string) => {
      const query = `WorkflowType = 'transfer' AND WorkflowId STARTS_WITH 'executor:' AND ${outcome}`
      const found: string[] = []
      for await (const { workflowId } of stage.client.workflow.list({ query })) found.push(workflowId)
      return found
    }
    await until(async () => (await ids("ExecutionStatus = 'Completed'")).length === sent.length, {
      ...{ timeoutMs: 60_000, everyMs: 500, what: 'all transfers to end' },
    })
    const outcomes = await stage.outcomes(await ids("ExecutionStatus = 'Completed'"))
    expect(new Set(outcomes.map(({ state, delivery }) => `${state} ${delivery?.ours}`))).toEqual(new Set(['delivered true']))
    expect(await ids("ExecutionStatus != 'Completed'")).toEqual([])
    const { delivered, duplicates, wrongBalances, foreignCompletions, revertedTransactions } = await check()
    expect({ delivered, duplicates, wrongBalances, foreignCompletions, revertedTransactions }).toEqual({
      ...{ delivered: sent.length, duplicates: 0, wrongBalances: 0, foreignCompletions: 0, revertedTransactions: 0 },
    })
  })

  test('the provider names the kinds of requests that it delivers', async () => {
    const answer = await (await fetch(`${portage.apiUrl}/v0/capabilities`)).json()
    expect(answer).toMatchObject({ '2': { requestPrefixes: ['ERV1', 'ERN1', 'ERC1', 'ERC2'] } })
  })
})
