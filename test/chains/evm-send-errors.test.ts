import { expect, test } from 'vitest'
import { createClassifier, sendRaw } from '../../chains/evm/transactions/send.ts'
import { RpcError } from '../../chains/evm/nodes/node-errors.ts'
import type { NodeAnswer, Nodes } from '../../chains/evm/nodes/nodes.ts'

type SendAll = (method: string, params: readonly unknown[], read: unknown, onAnswer: (answer: NodeAnswer<string>) => boolean) => unknown
const sendBy = (sendAll: SendAll) => sendRaw({ sendAll, areMostSenders: () => true } as unknown as Nodes, createClassifier(), '0x00')
const who = { node: 'http://a.node', name: 'a', ok: false } as const
const fatal = { ...who, error: new RpcError('a', 'eth_sendRawTransaction', { message: 'invalid sender' }) } as const

test.each<readonly [string, SendAll]>([
  [
    'at once',
    () => {
      throw new TypeError('unexpected')
    },
  ],
  [
    'later',
    async () => {
      throw new TypeError('unexpected')
    },
  ],
  [
    'after a node called the transaction fatal',
    async (_method, _params, _read, onAnswer) => {
      onAnswer(fatal)
      throw new TypeError('unexpected')
    },
  ],
  [
    'instead of an answer of one node',
    async (_method, _params, _read, onAnswer) => {
      onAnswer(fatal)
      onAnswer({ ...who, error: new TypeError('unexpected') as never })
    },
  ],
])('an unexpected error that comes %s is ambiguous, because the bytes may have left', async (_, sendAll) => {
  expect(await sendBy(sendAll)).toMatchObject({ kind: 'refused', error: 'ambiguous', message: expect.stringContaining('unexpected') })
})
