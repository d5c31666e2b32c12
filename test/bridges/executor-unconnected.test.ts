import { expect, test } from 'vitest'
import { createExecutorBridge } from '../../bridges/executor-bridge.ts'
import { writeMessage } from '../../bridges/executor/message.ts'
import { executorSchema } from '../../config/schema/executor-schema.ts'
import { quoter } from '../helpers/executor.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { unused } from '../helpers/unused.ts'

const contract = `0x${'44'.repeat(20)}`
const contracts = { core: contract, tokenBridge: contract }
const own = { contract, payee: contract, price: '1', receivers: {} }

test('a request of a chain that is not connected is not verified', async () => {
  const options = {
    bridges: { executor: executorSchema.parse({ quoter: { address: quoter }, chains: { ethereum: own, bsc: own } }) },
    chains: { ethereum: { wormholeChainId: 2, networkId: 1, contracts }, bsc: { wormholeChainId: 4, networkId: 56, contracts } },
  }
  const links = {
    connected: new Map(),
    served: new Map([['bsc', { name: 'bsc' }]]),
    verifierOf: () => async () => {},
    signed: { isDelivered: unused('isDelivered'), decode: unused('decode') },
    ...{ findVaa: unused('findVaa'), attestations: unused('attestations') },
  }
  const bridge = createExecutorBridge(options, links as never)
  const none = new Uint8Array()
  const message = writeMessage({
    ...{ sourceChain: 2, height: 7, logIndex: 0, txHash: `0x${'bb'.repeat(32)}`, attested: [] },
    request: {
      ...{ quoter, amountPaid: 1n, targetChain: 4, targetAddress: '33'.repeat(32), refundAddress: quoter },
      ...{ signedQuote: none, request: none, instructions: none },
    },
  })
  expect(await codeOfAsync(async () => bridge.endpoints.get('bsc')?.verify(message))).toBe('CONFIG_INVALID')
})
