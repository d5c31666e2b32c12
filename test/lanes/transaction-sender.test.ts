import { expect, test } from 'vitest'
import type { SendOutcome } from '../../chains/port.ts'
import type { LaneDeps } from '../../lanes/deps.ts'
import { createTransactionSender } from '../../lanes/transaction/sender.ts'
import { silentLogger } from '../../observability/logger.ts'

const fatal = { kind: 'refused', error: 'fatal', message: 'intrinsic gas too low' } as const
const [lone, agreed]: readonly SendOutcome[] = [fatal, { ...fatal, mostAnswered: true }]

test.each<[string, readonly (SendOutcome | undefined)[], boolean, boolean]>([
  ['two blocks at which most nodes refuse it', [agreed, agreed], true, true],
  ['one such block', [agreed], false, false],
  ['ten blocks at which too few nodes answer', Array.from({ length: 10 }, () => lone), true, false],
  ['such blocks with others between them', [agreed, lone, lone, agreed], true, true],
  ['such blocks with an acceptance between them', [agreed, { kind: 'accepted' }, agreed], false, false],
])(
  'whether a call that nodes refuse for good is given up, and whether it is a loss: after %s',
  async (_, outcomes, isHopeless, isAgreed) => {
    const answers = outcomes.values()
    const chain = { raises: true, blockTimeMs: 1_000, send: async () => answers.next().value }
    const sender = createTransactionSender({ chain, logger: silentLogger() } as unknown as LaneDeps, 7)
    for (const height of outcomes.keys())
      expect(await sender.send({ raw: '0x', hash: '0x', signingHash: '0x' }, height)).not.toBe('ambiguous')
    expect([sender.isHopeless(), sender.isUnfit(), sender.isAgreed()]).toEqual([isHopeless, isHopeless, isAgreed])
  },
)
