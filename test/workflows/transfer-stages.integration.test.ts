import { describe, expect, test } from 'vitest'
import { intentIdOf } from '../../domain/lane/lane.ts'
import { retrySignal } from '../../temporal/contracts/transfer.ts'
import type { Admission, AdmitInput } from '../../temporal/contracts/transfer-steps.ts'
import { activitySummaries } from '../helpers/e2e-web-ui.ts'
import { landed, lanes, ready, scriptedTransfers } from './scripted.ts'

const stageOf = (stage: string) => (input: AdmitInput) => ({ ...ready(input), stage }) as Admission
const waitsForQueue: Admission = { kind: 'waiting', code: 'DELIVERY_NOT_DUE', reason: 'it is in the queue', retryInMs: 86_400_000 }

describe('Deliveries of several calls', () => {
  const on = scriptedTransfers()

  test('each call of a transfer is a round of its own, and a wait between them survives a new run', async () => {
    let admissions = 0
    on.script.admit = (input) => {
      admissions += 1
      if (admissions === 1) return stageOf('receive')(input)
      return retried ? stageOf('complete')(input) : waitsForQueue
    }
    on.script.broadcast = ({ stage }) => ({ kind: stage === 'receive' ? 'passed' : 'delivered', landed })
    let retried = false
    const handle = await on.start()
    await on.reaches(handle, ({ state, code }) => state === 'waiting' && code === 'DELIVERY_NOT_DUE', 'the second call to wait')
    const { timeline, txHash } = await on.status(handle)
    const notes = timeline.map(({ note }) => note)
    expect(notes).toEqual(expect.arrayContaining([`stage receive, through ${lanes[0]}`, 'stage receive is final in block 9']))
    expect(txHash).toBeUndefined()
    await on.nextRun(handle)
    retried = true
    await on.retry(handle)
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 2, delivery: { txHash: landed.txHash, ours: true } })
    expect((await on.status(handle)).timeline.map(({ note }) => note)).toContain(`stage complete, through ${lanes[0]}`)
    expect(await activitySummaries(on.temporal.client, handle.workflowId)).toContain(
      `broadcast ethereum → bsc #1, stage complete, by ${lanes[0]}`,
    )
    expect(on.asked.broadcast.map(({ stage, intentId }) => [stage, intentId])).toEqual([
      ['receive', intentIdOf(handle.workflowId, 1)],
      ['complete', intentIdOf(handle.workflowId, 2)],
    ])
  })

  test('the first stage of a transfer is confirmed, and its reverts do not count in the second stage', async () => {
    const calls: string[] = []
    on.script.admit = (input) => stageOf(calls.includes('passed') ? 'complete' : 'receive')(input)
    on.script.broadcast = ({ stage }) => {
      if (stage === 'receive' && calls.length === 0) {
        calls.push('reverted')
        return { kind: 'reverted', landed, reason: 'too early' }
      }
      return { kind: 'included', landed, finalInMs: 0 }
    }
    on.script.confirm = ({ stage }) => {
      calls.push('passed')
      return { kind: stage === 'receive' ? 'passed' : 'delivered', delivery: { ours: true, txHash: '0x07', blockHeight: 9 } }
    }
    const handle = await on.start()
    await on.reaches(handle, ({ state }) => state === 'waiting', 'the first revert')
    await handle.signal(retrySignal, { gate: true })
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 3 })
    // A paid request pays once for the gas of all its stages.
    expect(on.asked.admit.at(-1)?.reverted).toEqual({ calls: 0, gas: 1 })
    expect(on.asked.confirm.map(({ stage }) => stage)).toEqual(['receive', 'complete'])
  })

  test('a wait until a time that is no date ends after a month at the latest, and takes a retry', async () => {
    on.script.admit = (input) => (on.asked.admit.length === 1 ? { ...waitsForQueue, retryInMs: 9e18 } : ready(input))
    const handle = await on.start()
    await on.reaches(handle, ({ state, code }) => state === 'waiting' && code === 'DELIVERY_NOT_DUE', 'the wait')
    await on.retry(handle)
    expect(await handle.result()).toMatchObject({ state: 'delivered' })
  })

  test('a transfer without an attestation adopts it and goes on with the same id', async () => {
    on.script.admit = (input) => (input.transfer.message === 'AAAA' ? ready(input) : { kind: 'attested', message: 'AAAA' })
    const handle = await on.start()
    expect(await handle.result()).toMatchObject({ state: 'delivered', rounds: 1 })
    expect(on.asked.admit).toHaveLength(2)
    expect(on.asked.broadcast.map(({ transfer }) => transfer.message)).toEqual(['AAAA'])
  })
})
