import { expect, test } from 'vitest'
import type { Bridge, Verdict } from '../../bridges/port.ts'
import { signedBy } from '../../bridges/kit/signed-messages.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { mostMessageBytes } from '../../domain/transfer/transfer.ts'
import { createSubmitter } from '../../intake/submit/submitter.ts'
import type { TransferInput } from '../../temporal/contracts/transfer.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { unused } from '../helpers/unused.ts'
import { signVaa, transferPayload } from '../helpers/vaa.ts'
import { onEveryChain } from '../helpers/on-every-chain.ts'

interface Setting {
  readonly verify: Verdict
  readonly accept?: RelayerError
  readonly client?: object
}

function setting({ verify, accept, client = unused('client') }: Setting) {
  const name = 'wormhole-token-bridge'
  const asked: string[] = []
  const endpoints = onEveryChain({
    verify: async () => (asked.push('verify'), verify),
    ...(accept && { accept: async () => (asked.push('accept'), Promise.reject(accept)) }),
  })
  const { decode } = tokenBridgeMessages(new Map([[2, 'ethereum']]))
  const message = { decode, content: () => ({}), signedBy }
  const bridge = { name, ...message, endpoints } as unknown as Bridge
  const submitter = createSubmitter({ bridges: new Map([[name, bridge]]), client: client as never, defaults: { withinMs: 3_600_000 } })
  const { bytes } = signVaa({ emitterChain: 1, payload: transferPayload({ toChain: 2 }) })
  const submitLong = () => codeOfAsync(() => submitter.submit(name, new Uint8Array(mostMessageBytes + 1)))
  return {
    submitter,
    name,
    bytes,
    asked,
    submitLong,
    submit: (repeats: 'ask' | 'skip') => codeOfAsync(() => submitter.submit(name, bytes, { repeats })),
  }
}

test('a message that no step can carry is refused before it is decoded', async () => {
  const { asked, submitLong } = setting({ verify: { kind: 'valid' } })
  expect([await submitLong(), asked]).toEqual(['MESSAGE_TOO_LARGE', []])
})

test('a repeated message of an unregistered emitter costs reads once, unless a person submits it', async () => {
  const { asked, submit } = setting({ verify: { kind: 'valid' }, accept: new RelayerError('EMITTER_UNKNOWN') })
  for (let time = 0; time < 100; time++) expect(await submit('skip')).toBe('EMITTER_UNKNOWN')
  expect(asked).toEqual(['accept'])
  expect(await submit('ask')).toBe('EMITTER_UNKNOWN')
  expect(asked).toHaveLength(2)
})

test('a message with bad signatures is checked each time, since a copy with the same id may have good ones', async () => {
  const { asked, submit } = setting({ verify: { kind: 'valid' }, accept: new RelayerError('VAA_SIGNATURE_INVALID') })
  for (let time = 0; time < 3; time++) expect(await submit('skip')).toBe('VAA_SIGNATURE_INVALID')
  expect(asked).toEqual(['accept', 'accept', 'accept'])
})

test('a message of a bridge without emitters is verified before it is started', async () => {
  const { asked, submit } = setting({ verify: { kind: 'rejected', code: 'VAA_SIGNATURE_INVALID', reason: '' } })
  expect(await submit('skip')).toBe('VAA_SIGNATURE_INVALID')
  expect(asked).toEqual(['verify'])
})

test.each([
  ['the usual time', {}, 3_600_000],
  ['a time of its own', { withinMs: 5_000 }, 5_000],
  ['a date', { deadline: 9_000_000_000_000 }, undefined],
])('a deadline as %s is carried as the time after the start, too', async (_, options, withinMs) => {
  const inputs: Partial<TransferInput>[] = []
  const start = async (_type: string, { args }: { args: Partial<TransferInput>[] }) => void inputs.push(...args)
  const client = { withDeadline: (_at: number, work: () => unknown) => work(), workflow: { start } }
  const { submitter, name, bytes } = setting({ verify: { kind: 'valid' }, client })
  const begun = Date.now()
  await submitter.submit(name, bytes, options)
  const [{ deadline = 0, withinMs: carried } = {}] = inputs
  expect(carried).toBe(withinMs)
  if (withinMs === undefined) expect(deadline).toBe(9_000_000_000_000)
  else expect(Math.abs(deadline - begun - withinMs)).toBeLessThan(60_000)
})
