import { expect, test } from 'vitest'
import { usedNonceKey } from '../../bridges/cctp/message.ts'
import { attesters } from '../helpers/cctp.ts'
import { attested, loggedV2, messageOf, network, transferOf } from '../helpers/cctp-endpoint.ts'

test.each([
  ['an attestation that is too early', 'CCTP_NOT_ATTESTED', { finality: 'finalized' }],
  ['an expired attestation', 'CCTP_EXPIRED', { fastBlocks: 1 }],
] as const)('if only one node reports the nonce as used, the burn still gets a new attestation: %s', async (_, code, options) => {
  const { see, endpoint, state, asked } = await network(options)
  const bytes = loggedV2({ minFinality: 1_000 })
  const transfer = transferOf(bytes)
  see({ bytes, level: 'latest' })
  state.lie = true
  expect(await endpoint.attest?.(transfer)).toMatchObject({ kind: 'wait', code })
  expect(asked('reattest')).toBe(1)
})

test('if only one node reports the nonce as used, an admitted burn that expired gets a new attestation', async () => {
  const { see, endpoint, state, asked } = await network()
  const bytes = loggedV2({ minFinality: 1_000 })
  see({ bytes, level: 'latest' })
  const whole = await attested(endpoint, transferOf(bytes))
  endpoint.explainRevert({ data: '0x', reason: 'Message expired and must be re-signed' }, whole)
  state.lie = true
  expect(await endpoint.attest?.(whole)).toMatchObject({ kind: 'wait', code: 'CCTP_EXPIRED' })
  expect(asked('reattest')).toBe(1)
  state.used.add(usedNonceKey(messageOf(whole)))
  expect(await endpoint.attest?.(whole)).toBeUndefined()
})

test('if only one node reports the nonce as used, the burn still needs signatures of current attesters', async () => {
  const { see, endpoint } = await network()
  see({ bytes: loggedV2() })
  const whole = await attested(endpoint, transferOf(loggedV2()))
  const other = await network()
  other.state.enabled = attesters.slice(1, 3).map(({ address }) => address)
  other.state.lie = true
  expect(await other.endpoint.validate(whole)).toMatchObject({ kind: 'wait', code: 'CCTP_ATTESTATION' })
  other.state.used.add(usedNonceKey(messageOf(whole)))
  expect(await other.endpoint.validate(whole)).toEqual({ kind: 'valid' })
})
