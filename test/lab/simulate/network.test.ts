import { expect, test } from 'vitest'
import { deliveryCall, gwei, Network } from '../../../lab/simulate/chain/network.ts'

const from = `0x${'a1'.repeat(20)}`

function networkWith(...sent: readonly { nonce: number; key: string }[]): Network {
  const rates = { reorgs: 0, spikes: 0, drops: 0 }
  const network = new Network({
    name: 'chain',
    networkId: '1',
    blockTimeMs: 1_000,
    depth: 3,
    capacity: 10,
    guards: true,
    seed: '',
    ...rates,
  })
  network.calm()
  for (const { nonce, key } of sent) send(network, nonce, key)
  return network
}

function send(network: Network, nonce: number, key: string): void {
  const fees = { gasLimit: 100_000, maxFee: 10 * gwei, tip: gwei }
  network.send({ hash: `0x${nonce}`, signingHash: `0x${nonce}`, from, nonce, ...deliveryCall(key), value: '0', ...fees })
}

test('a call behind a missing nonce is hidden only after Temporal was set back', () => {
  const network = networkWith({ nonce: 1, key: 'late' })
  expect(network.callInPool('late')).toBe('pending')
  network.onReset()
  expect(network.callInPool('late')).toBe('hidden')
  expect(network.callInPool('other')).toBeUndefined()
})

test('a call is pending once the missing nonce is sent, and a call that was sent after the reset never is hidden', () => {
  const network = networkWith({ nonce: 1, key: 'early' })
  network.onReset()
  send(network, 3, 'later')
  expect(network.callInPool('later')).toBe('pending')
  send(network, 0, 'first')
  expect(network.callInPool('early')).toBe('pending')
})
