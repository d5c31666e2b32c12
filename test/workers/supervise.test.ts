import { GracefulShutdownPeriodExpiredError, type Worker } from '@temporalio/worker'
import { expect, test } from 'vitest'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import { silentLogger } from '../../observability/logger.ts'
import { supervise } from '../../workers/process/supervise.ts'

/** The parts of a process. They record their events. A stopped worker ends one turn of the event loop later. */
function parts(endWith?: Error) {
  const said: string[] = []
  const worker = (name: string, error?: Error) => {
    let resolve = () => {}
    let reject = (_: Error) => {}
    const promise = new Promise<void>((...both) => ([resolve, reject] = both))
    const shutdown = () => {
      said.push(`${name}: shut down`)
      setImmediate(() => (said.push(`${name}: ended`), error ? reject(error) : resolve()))
    }
    return { getState: () => 'RUNNING', options: { taskQueue: name }, run: () => promise, shutdown, fail: reject } as unknown as Worker & {
      fail(error: Error): void
    }
  }
  const agent = { quiesce: () => said.push('agent: no more nonces'), stop: () => said.push('agent: stopped') } as unknown as LaneAgent
  const service = {
    async stop() {
      await new Promise((resolve) => setImmediate(resolve))
      if (!said.includes('service: stopped')) said.push('service: stopped')
    },
  }
  const lane = worker('lane', endWith)
  const failure = new AbortController()
  const work = { ledgers: [worker('ledger')], workers: [lane], agents: [agent], services: [service], failure }
  const stopping = () => void said.push('stopping')
  const running = supervise(work, { onStop: stopping, close: async () => void said.push('closed'), logger: silentLogger() })
  return { said, running, lane, failure }
}

test('a stopping process takes no nonce; services end before the ledger, agents after it', async () => {
  const { said, running } = parts()
  await running.stop()
  expect(said.slice(0, 3)).toEqual(['stopping', 'lane: shut down', 'agent: no more nonces'])
  const order = ['lane: ended', 'ledger: shut down', 'ledger: ended', 'agent: stopped', 'closed']
  expect(said.filter((line) => order.includes(line))).toEqual(order)
  expect(said.indexOf('service: stopped')).toBeLessThan(said.indexOf('ledger: shut down'))
})

test('unfinished steps are left behind without a failure of the process', async () => {
  const { running } = parts(new GracefulShutdownPeriodExpiredError('too long'))
  await expect(running.stop()).resolves.toBeUndefined()
  await expect(running.stopped).resolves.toBeUndefined()
})

test('a Worker that fails by itself stops the process, and is its failure', async () => {
  const { running, lane, said } = parts()
  lane.fail(new Error('broken'))
  await expect(running.stopped).rejects.toThrow('broken')
  expect(said.at(-1)).toBe('closed')
})

test('a process that cannot do its work ends cleanly, and reports the error', async () => {
  const { running, failure, said } = parts()
  failure.abort(new RelayerError('QUEUE_UNPOLLED', { facts: { taskQueue: 'ledger' } }))
  await expect(running.stopped).rejects.toMatchObject({ code: 'QUEUE_UNPOLLED' })
  expect([said[0], said.at(-1)]).toEqual(['stopping', 'closed'])
})
