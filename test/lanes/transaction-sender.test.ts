import { expect, test } from 'vitest'
import type { SendOutcome } from '../../chains/port.ts'
import type { LaneDeps } from '../../lanes/deps.ts'
import { createTransactionSender } from '../../lanes/transaction/sender.ts'
import { silentLogger } from '../../observability/logger.ts'

const fatal = { kind: 'refused', error: 'fatal', message: 'intrinsic gas too low' } as const
const [lone, agreed]: readonly SendOutcome[] = [fatal, { ...fatal, byMost: true }]

test.each<[string, readonly (SendOutcome | undefined)[], boolean]>([
  ['two blocks at which most nodes refuse it', [agreed, agreed], true],
  ['one such block', [agreed], false],
  ['ten blocks at which too few nodes answer', Array.from({ length: 10 }, () => lone), false],
  ['such blocks with others between them', [agreed, lone, lone, agreed], true],
  ['such blocks with an acceptance between them', [agreed, { kind: 'accepted' }, agreed], false],
])('a call that nodes refuse for good is hopeless or not: after %s', async (_, outcomes, isHopeless) => {
  const answers = outcomes.values()
  const chain = { raises: true, blockTimeMs: 1_000, send: async () => answers.next().value }
  const sender = createTransactionSender({ chain, logger: silentLogger() } as unknown as LaneDeps, 7)
  for (const height of outcomes.keys())
    expect(await sender.send({ raw: '0x', hash: '0x', signingHash: '0x' }, height)).not.toBe('ambiguous')
  expect([sender.isHopeless(), sender.isUnfit()]).toEqual([isHopeless, isHopeless])
})
