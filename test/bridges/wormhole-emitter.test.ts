import { expect, test } from 'vitest'
import { createTokenBridgeReads } from '../../bridges/wormhole-token-bridge/contracts.ts'
import { checkEmitter, createProof } from '../../bridges/wormhole-token-bridge/verify.ts'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { signVaa, transferPayload } from '../helpers/vaa.ts'

const [forged, registered] = ['66'.repeat(32), '11'.repeat(32)]

/** The node that is asked first lies; the others are honest. */
function chainWithLiar() {
  const asked: At[] = []
  const call = async (_to: string, _data: string, at: At) => {
    asked.push(at)
    return `0x${at === 'latest' || at === 'finalized' ? forged : registered}`
  }
  const chain = { name: 'bsc', call }
  return { chain, asked, reads: createTokenBridgeReads(chain, `0x${'aa'.repeat(20)}`) }
}

test('the word of one node makes nobody the token bridge of a chain; that of most is asked for once', async () => {
  const { chain, asked, reads } = chainWithLiar()
  for (let round = 0; round < 3; round++) await checkEmitter({ chain, reads }, 2, registered)
  expect(asked).toEqual(['majority-latest'])
  await expect(checkEmitter({ chain, reads }, 2, forged)).rejects.toMatchObject({ code: 'EMITTER_UNKNOWN' })
})

test('a message without good signatures costs no read of its emitter', async () => {
  const { chain, asked, reads } = chainWithLiar()
  const verify = () => Promise.reject(new RelayerError('VAA_SIGNATURE_INVALID'))
  const prove = createProof({ chain, wormholeChainId: 2, verify, reads })
  const { bytes } = signVaa({ emitterChain: 4, payload: transferPayload({ toChain: 2 }) })
  await expect(prove(bytes)).rejects.toMatchObject({ code: 'VAA_SIGNATURE_INVALID' })
  expect(asked).toEqual([])
})

test('the wrapped coin is remembered on the word of most nodes', async () => {
  const call = async (_to: string, _data: string, at: At) => `0x${(at === 'latest' ? '66' : '11').repeat(20).padStart(64, '0')}`
  const reads = createTokenBridgeReads({ name: 'bsc', call }, `0x${'aa'.repeat(20)}`)
  for (let round = 0; round < 2; round++) expect(await reads.weth()).toBe(`0x${'11'.repeat(20)}`)
})
