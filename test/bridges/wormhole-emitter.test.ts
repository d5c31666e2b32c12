import { expect, test } from 'vitest'
import { createPluginEndpoint } from '../../bridges/kit/plugin-bridge.ts'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { noLogs } from '../helpers/unused.ts'
import { signVaa, transferPayload } from '../helpers/vaa.ts'

const [forged, registered, weth] = ['66', '11', '22'].map((byte) => byte.repeat(32)) as [string, string, string]
const names = new Map([[2, 'bsc']])

/**
 * An endpoint for which reads of one node (`latest`, `finalized`) show a forged emitter, and reads of most nodes show
 * `honest`.
 */
function endpointWithLiar({ verify = async () => {}, honest = registered } = {}) {
  const asked: At[] = []
  const call = async (_to: string, _data: string, at: At) => {
    asked.push(at)
    return `0x${at === 'latest' || at === 'finalized' ? forged : honest}`
  }
  const { product, messages, decode } = tokenBridgeMessages(names)
  const chain = { name: 'bsc', call, ...noLogs }
  return { asked, decode, endpoint: createPluginEndpoint(product, messages, { chain, clock: () => 0, chainNames: names, verify }) }
}

const from = (emitter: string, content = {}) =>
  signVaa({ emitterChain: 4, emitter, payload: transferPayload({ toChain: 2, ...content }) }).bytes

test('one node cannot name the token bridge of a chain; most nodes are asked for it once', async () => {
  const { asked, endpoint } = endpointWithLiar()
  for (let round = 0; round < 3; round++) expect(await endpoint.accept?.(from(registered))).toBeUndefined()
  expect(asked).toEqual(['majority-latest'])
  await expect(endpoint.accept?.(from(forged))).rejects.toMatchObject({ code: 'EMITTER_UNKNOWN' })
})

test('if the contract in the config refuses an emitter, the refusal blames the config', async () => {
  const { decode, endpoint } = endpointWithLiar()
  const verdict = await endpoint.validate(decode(from(forged)))
  expect(verdict).toMatchObject({ kind: 'rejected', code: 'EMITTER_UNKNOWN', ofConfig: true })
})

test('a message without good signatures costs no read of its emitter', async () => {
  const { asked, endpoint } = endpointWithLiar({ verify: () => Promise.reject(new RelayerError('VAA_SIGNATURE_INVALID')) })
  await expect(endpoint.accept?.(from(registered))).rejects.toMatchObject({ code: 'VAA_SIGNATURE_INVALID' })
  expect(asked).toEqual([])
})

test('the wrapped coin is remembered on the word of most nodes', async () => {
  const coin = weth.slice(24).padStart(64, '0')
  const { asked, decode, endpoint } = endpointWithLiar({ honest: coin })
  const transfer = decode(from(registered, { token: coin, tokenChain: 2 }))
  const calls = [await endpoint.delivery(transfer).call(), await endpoint.delivery(transfer).call('wrapped')]
  expect(new Set(calls.map(({ data }) => data.slice(0, 10))).size).toBe(2)
  expect(asked).toEqual(['majority-latest'])
})
