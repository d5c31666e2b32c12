import { getBytes } from 'ethers'
import { expect, test } from 'vitest'
import { contentOf } from '../../bridges/cctp/routes.ts'
import { readMessage } from '../../bridges/cctp/message.ts'
import { createNtt } from '../../bridges/ntt/ntt.ts'
import { burnBytes, cctpRoutes } from '../helpers/cctp.ts'
import { codesOfDenials } from '../helpers/denials.ts'
import { nttPayload } from '../helpers/ntt.ts'

const word = (digits: string) => `${'00'.repeat(12)}${digits.repeat(20)}`
const signed = { bytes: new Uint8Array(), source: 'ethereum', emitterChain: 2, emitter: word('71'), sequence: '42', digest: '0xab' }

function nttParties() {
  const peer = (manager: string, transceiver: string) => ({ manager: word(manager), transceivers: [word(transceiver)] })
  const peers = { ethereum: peer('77', '71'), bsc: peer('88', '81') }
  const { routes, decode, parties } = createNtt(
    [{ peers }],
    new Map([
      [2, 'ethereum'],
      [4, 'bsc'],
    ]),
  )
  const message = { ...signed, payload: getBytes(nttPayload()) }
  return parties({
    ...message,
    content: decode(
      message,
      routes.find(({ to }) => to === 'bsc')!,
    )!,
  })
}

function burnParties() {
  const bytes = burnBytes(2)
  return contentOf(bytes, cctpRoutes.of(readMessage(bytes)))
}

test.each([
  ['NTT', nttParties],
  ['CCTP', burnParties],
])('an order can deny the recipient and the token of each transfer of %s', (_, partiesOf) => {
  const { recipient, token } = partiesOf()
  expect(codesOfDenials({ targetChain: 'bsc', recipient, token })).toEqual(['RECIPIENT_DENIED', 'TOKEN_DENIED'])
})

test('the token of an NTT transfer is the manager that pays, under the Wormhole chain id of its chain', () => {
  expect(nttParties().token).toBe(`4/${word('88')}`)
})
