import { type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { provider } from '../../../lab/checker/provider.ts'
import { listenHttp } from '../../helpers/servers.ts'

test('thousands of calls at once open a few connections, and each is answered', async () => {
  let [open, most, answered] = [0, 0, 0]
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    most = Math.max(most, ++open)
    const body = (await json(request)) as { id: number } | { id: number }[]
    const calls = [body].flat()
    // The delayed answer lets other requests run at the same time.
    setImmediate(() => {
      open--
      answered += calls.length
      response.setHeader('content-type', 'application/json')
      const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x7' }))
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
    })
  }
  const node = provider(await listenHttp((request, response) => void answer(request, response)))
  onTestFinished(() => node.destroy())
  const balances = await Promise.all(
    Array.from({ length: 3_000 }, (_, index) => node.getBalance(`0x${index.toString(16).padStart(40, '0')}`)),
  )
  expect([balances.length, new Set(balances)]).toEqual([3_000, new Set([7n])])
  expect(answered).toBeGreaterThanOrEqual(3_000)
  expect(most).toBeLessThanOrEqual(16)
})
