import { expect, test } from 'vitest'
import { tokenCommand } from '../../cli/commands/settings/token.ts'
import { render } from '../../cli/output/layout.ts'
import type { Outcome } from '../../cli/output/output.ts'
import type { IssuedToken } from '../../domain/settings/settings.ts'

/** The rows of `portage token list` if the settings list these tokens. */
async function rowsOf(tokens: readonly Partial<IssuedToken>[]): Promise<string[]> {
  const client = {
    workflow: { getHandle: () => ({ query: async () => ({ tokens }) }) },
    withDeadline: (_: number, work: () => unknown) => work(),
  }
  const call = { withTemporal: (use: (one: typeof client) => Promise<Outcome>) => use(client) }
  const outcome = await tokenCommand.commands?.['list']?.run?.(call as never)
  return render(outcome?.text ?? [], 200).split('\n')
}

test('the list of tokens shows which are good, which have expired, and who revoked the others', async () => {
  const now = Date.now()
  const revoked = { by: 'alice', reason: 'stolen', at: now }
  const [head, ...rows] = await rowsOf([
    { jti: 'a', name: 'good', level: 'read', issuedAt: now - 1_000, expiresAt: now + 60_000 },
    { jti: 'b', name: 'old', level: 'sign', issuedAt: now - 60_000, expiresAt: now - 1 },
    { jti: 'c', name: 'both', level: 'admin', issuedAt: now - 60_000, expiresAt: now - 1, revoked },
    { jti: 'd', revoked },
  ])
  expect(head).toMatch(/^id +name +level +scope +made +expires +state$/)
  const stateOf = (row: string) => row.split(/ {2,}/).at(-1)
  expect(rows.map((row) => [row[0], stateOf(row)])).toEqual([
    ['a', 'good'],
    ['b', 'expired'],
    ['c', 'revoked by alice: stolen'],
    ['d', 'revoked by alice: stolen'],
  ])
})
