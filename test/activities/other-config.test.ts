import { expect, test } from 'vitest'
import { createValidate } from '../../activities/transfer/admit.ts'
import type { Refuse } from '../../activities/transfer/confirm-end.ts'
import type { Bridges } from '../../bridges/port.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeEndpoint } from './fake-bridge.ts'
import { inItsRun } from './its-run.ts'

const now = Date.now()
const minute = 60_000
const refusal = { kind: 'declined', code: 'EXECUTOR_UNSUPPORTED', reason: 'above the cap' } as const
const refused = { ...refusal, awaitNewSignatures: undefined }
const waits = {
  kind: 'waiting',
  code: 'CONFIG_DIFFERS',
  reason: 'EXECUTOR_UNSUPPORTED: above the cap',
  retryInMs: 5 * minute,
  unverified: true,
}

/** `startedUnder`: config of the process that started the transfer. Undefined if an older version started it. */
async function validate(
  startedUnder: Transfer['startedUnder'],
  bridges: Bridges = bridgesWith(fakeEndpoint({ validate: async () => refusal })),
) {
  const refuse: Refuse = async (_, answer) => answer
  const one = new Map([['bsc', {}]])
  const deps = { bridges, chains: one, lanes: one, settings: () => noSettings, routes: 'before' }
  return inItsRun(createValidate(deps as never, refuse))({ transfer: { ...nativeTransfer(), ...(startedUnder && { startedUnder }) } })
}

test('if a process with another config has started a transfer, a process waits instead of refusing it', async () => {
  expect(await validate({ routes: 'after', at: now - minute })).toEqual(waits)
  expect(await validate({ routes: 'after', at: now - minute }, new Map())).toMatchObject({ kind: 'waiting', code: 'CONFIG_DIFFERS' })
})

test.each([
  ['has the same routes', { routes: 'before', at: now - minute }],
  ['started the transfer more than a day ago', { routes: 'after', at: now - 25 * 60 * minute }],
  ['names a time in the far future', { routes: 'after', at: now + 25 * 60 * minute }],
  ['is of an older version', undefined],
])('a refused transfer ends if the process that started it %s', async (_, startedUnder) => {
  expect(await validate(startedUnder)).toEqual(refused)
})

test('a process waits, too, if its config sends the message of a started transfer to another chain', async () => {
  const elsewhere = { kind: 'rejected', code: 'MESSAGE_MISMATCH', reason: 'to base', ofConfig: true } as const
  const bridges = bridgesWith(fakeEndpoint({ validate: async () => elsewhere }))
  expect(await validate({ routes: 'after', at: now - minute }, bridges)).toEqual({ ...waits, reason: 'MESSAGE_MISMATCH: to base' })
  expect(await validate({ routes: 'before', at: now - minute }, bridges)).toMatchObject({ kind: 'rejected', code: 'MESSAGE_MISMATCH' })
})

test('a message that is not the one of the transfer is rejected under any config', async () => {
  const rejection = { ...refusal, kind: 'rejected' } as const
  const bridges = bridgesWith(fakeEndpoint({ validate: async () => rejection }))
  expect(await validate({ routes: 'after', at: now - minute }, bridges)).toEqual({ ...refused, kind: 'rejected' })
})
