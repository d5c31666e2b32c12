import { expect, test } from 'vitest'
import { withoutTokenBridge } from '../../cli/doctor/workflows.ts'

test('portage doctor warns of open transfers to a chain whose token bridge the config does not name', async () => {
  const finding = (count: number) => {
    const isAsked = (query: string) => ['wormhole-token-bridge', 'bsc', 'Running'].every((part) => query.includes(`'${part}'`))
    const workflow = { count: async (query: string) => ({ count: isAsked(query) ? count : 0 }) }
    return withoutTokenBridge({ workflow, withDeadline: (_: number, work: () => unknown) => work() } as never, 'bsc')
  }
  expect(await finding(0)).toBe('none; no open transfer needs it')
  expect(await finding(2)).toMatchObject({ status: 'warn', detail: expect.stringContaining('2 open transfers need it') })
})
