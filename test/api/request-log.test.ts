import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../lab/devnet/ports.ts'
import { deadConfig, openApi } from './setting.ts'
import { recordingLogger } from '../helpers/recording-logger.ts'

const { logger, lines } = recordingLogger('debug')
let setting: Awaited<ReturnType<typeof openApi>>

beforeAll(async () => {
  setting = await openApi(deadConfig(await freePort()), logger)
})
afterAll(() => setting.close())

async function linesOf(request: InjectOptions): Promise<Record<string, unknown>[]> {
  lines.length = 0
  await setting.api.inject(request)
  return lines
}

const emitter = 'b'.repeat(40).padStart(64, '0')

test('a refusal is logged at the level debug, without a stack', async () => {
  const [line, ...rest] = await linesOf({ method: 'POST', url: '/v1/transfers', payload: { chain: 2, emitter, sequence: '7' } })
  expect(rest).toEqual([])
  expect(line).toMatchObject({ level: 'debug', message: 'request failed', status: 503, code: 'VAA_NOT_FOUND' })
  expect(JSON.stringify(line)).not.toContain('stack')
})

test('an outage is logged as a warning of one line, without a stack or a URL', async () => {
  const native = { bridge: 'native-bridge', source: 'ethereum', target: 'bsc', nonce: '1' }
  const [line] = await linesOf({ method: 'POST', url: '/v1/transfers', payload: native })
  expect(line).toMatchObject({ level: 'warn', route: '/v1/transfers', status: 503, code: 'NODE_UNAVAILABLE' })
  expect(JSON.stringify(line)).not.toMatch(/stack|secret-path/)
})

test('an unexpected error is logged with its stack', () => {
  const { api } = setting
  const broken = Object.assign(new Error('a slip of ours'), { stack: 'Error: a slip of ours\n    at somewhere' })
  lines.length = 0
  api.errorHandler(broken, { routeOptions: { url: '/v1/x' } } as never, replyOf() as never)
  expect(lines).toMatchObject([
    { level: 'warn', status: 500, error: { message: 'a slip of ours', stack: expect.stringContaining('somewhere') } },
  ])
})

function replyOf() {
  const reply = { status: () => reply, send: () => reply, headers: () => reply }
  return reply
}
