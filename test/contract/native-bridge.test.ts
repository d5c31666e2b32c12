import { idOf, type NativeMessage, readMessage, writeMessage } from '../../bridges/native-bridge/message.ts'
import { startNativeBridge } from '../helpers/native-bridge.ts'
import { type BridgeHarness, bridgeAdapterSuite } from './bridge-adapter.ts'

/** Number of transfers that the source records before the tests: more than the suite takes with `message`. */
const prepared = 40

bridgeAdapterSuite('native-bridge', async (): Promise<BridgeHarness> => {
  const network = await startNativeBridge('fixed')
  const transfers = await network.transfers(...Array.from({ length: prepared }, (_, index) => BigInt(index + 1)))
  const message = () => {
    const transfer = transfers.shift()
    if (!transfer) throw new Error('Prepare more transfers.')
    return Uint8Array.from(Buffer.from(transfer.message, 'base64'))
  }
  return {
    bridge: network.bridge,
    target: 'target',
    chain: network.target.chain,
    message,
    forgeries() {
      const good = readMessage(message())
      const forged = (changes: Partial<NativeMessage>) => {
        const changed = { ...good, ...changes }
        return writeMessage({ ...changed, id: idOf(changed) })
      }
      return [
        { what: 'the amount was raised', bytes: forged({ amount: good.amount + 1n }) },
        { what: 'it goes to someone else', bytes: forged({ recipient: `0x${'0'.repeat(24)}${'ab'.repeat(20)}` }) },
        { what: 'it comes from someone else', bytes: forged({ initiator: `0x${'cd'.repeat(20)}` }) },
        { what: 'the nonce is that of another', bytes: forged({ nonce: good.nonce - 1n || good.nonce + 1n }) },
      ]
    },
    sender: network.relayer.address,
    deliver: network.deliver,
    finalise: network.target.finalise,
    stop: network.stop,
  }
})
