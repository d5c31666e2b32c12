import { expect, test } from 'vitest'
import { finalDelivery, isAbsent, isDenied, isFinal } from '../../activities/checks/effect.ts'
import type { Endpoint } from '../../bridges/port.ts'
import type { At, Chain, NodeStatus } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeEndpoint } from './fake-bridge.ts'
import { scriptedChain } from './scripted-chain.ts'

const up: NodeStatus = { name: 'node', origin: 'http://node', use: 'all', state: 'up', failures: 0 }
const transfer = {} as Transfer

function asked(nodes: readonly NodeStatus[]) {
  const states: At[] = []
  const chain: Chain = { ...scriptedChain(() => '0x01'), nodes: () => nodes }
  const endpoint = { delivered: async (_: Transfer, at: At) => states.push(at) > 0 } as unknown as Endpoint
  return { states, chain, endpoint }
}

test.each([
  ['the only node of the config', [up], ['finalized', 'agreed']],
  [
    'one of three, with the others disabled',
    [up, { ...up, state: 'disabled' }, { ...up, state: 'disabled' }],
    ['agreed', 'agreed-latest', 'agreed'],
  ],
  [
    'one that reads, one that is only sent to, and one that was added',
    [up, { ...up, use: 'send' }, { ...up, added: true }],
    ['finalized', 'agreed'],
  ],
] as [string, NodeStatus[], At[]][])('the number of nodes that must agree: %s', async (_, nodes, wanted) => {
  const { states, chain, endpoint } = asked(nodes)
  await isFinal(chain, endpoint, transfer)
  await isDenied(chain, endpoint, transfer)
  await isAbsent(endpoint, transfer)
  expect(states).toEqual(wanted)
})

test('the log that one of several nodes shows only names who delivered: the others decide whether', async () => {
  const shown = { by: '0xa', txHash: '0x1', blockHeight: 0, blockHash: '0x2' }
  const end = (agreed: () => Promise<boolean>) =>
    finalDelivery(
      {
        chains: new Map([['bsc', scriptedChain(() => '0x01', 3)]]),
        lanes: new Map([['bsc', { lanes: [] }]]),
        bridges: bridgesWith(fakeEndpoint({ delivered: agreed, findDelivery: async () => shown })),
      } as never,
      { ...nativeTransfer(7), targetChain: 'bsc' },
    )
  expect(await end(async () => false)).toBeUndefined()
  expect(await end(async () => Promise.reject(new RelayerError('NODES_DISAGREE')))).toBeUndefined()
  expect(await end(async () => true)).toEqual({ ...shown, ours: false })
})
