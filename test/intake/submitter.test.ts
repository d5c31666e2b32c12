import { expect, test } from 'vitest'
import type { Bridge, Verdict } from '../../bridges/port.ts'
import { createDecode, signedBy } from '../../bridges/wormhole-token-bridge/message.ts'
import { createSubmitter } from '../../intake/submit/submitter.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { unused } from '../helpers/unused.ts'
import { signVaa, transferPayload } from '../helpers/vaa.ts'
import { onEveryChain } from '../helpers/on-every-chain.ts'

test('a repeated message of an unregistered emitter costs reads once, unless a person submits it', async () => {
  const name = 'wormhole-token-bridge'
  const asked: string[] = []
  const look = (what: string, verdict: Verdict) => async () => (asked.push(what), verdict)
  const endpoint = {
    verify: look('signatures', { kind: 'valid' }),
    accepts: look('emitter', { kind: 'rejected', code: 'EMITTER_UNKNOWN', reason: '' }),
  }
  const bridge = {
    name,
    decode: createDecode(new Map([[2, 'ethereum']])),
    signedBy,
    endpoints: onEveryChain(endpoint),
  } as unknown as Bridge
  const submitter = createSubmitter({ bridges: new Map([[name, bridge]]), client: unused('client') as never })
  const { bytes } = signVaa({ emitterChain: 1, payload: transferPayload({ toChain: 2 }) })
  const submit = (repeats: 'ask' | 'skip') => codeOfAsync(() => submitter.submit(name, bytes, { repeats }))
  for (let time = 0; time < 100; time++) expect(await submit('skip')).toBe('EMITTER_UNKNOWN')
  expect(asked).toEqual(['signatures', 'emitter'])
  expect(await submit('ask')).toBe('EMITTER_UNKNOWN')
  expect(asked).toHaveLength(4)
})
