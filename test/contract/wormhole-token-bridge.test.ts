import { startTokenBridge } from '../helpers/token-bridge.ts'
import { altered } from '../helpers/vaa.ts'
import { type BridgeHarness, bridgeAdapterSuite } from './bridge-adapter.ts'

bridgeAdapterSuite('wormhole-token-bridge', async (): Promise<BridgeHarness> => {
  const network = await startTokenBridge(19)
  const everyone = Array.from({ length: 19 }, (_, index) => index)
  return {
    bridge: network.bridge(),
    target: 'ethereum',
    chain: network.chain,
    message: () => network.message().bytes,
    forgeries() {
      const { bytes } = network.message()
      return [
        { what: 'unsigned', bytes: network.message({}, {}, { signers: [] }).bytes },
        { what: 'one less than a quorum', bytes: network.message({}, {}, { signers: everyone.slice(0, 12) }).bytes },
        { what: 'the amount was raised', bytes: altered(bytes, bytes.length - 133 + 20, 1) },
        { what: 'one signature was altered', bytes: altered(bytes, 6 + 5 * 66 + 30, 1, 2, 3) },
        { what: 'the last guardian is not of the set', bytes: altered(bytes, 6 + 12 * 66, 19) },
        { what: 'the last guardian is another one', bytes: altered(bytes, 6 + 12 * 66, 18) },
      ]
    },
    sender: network.signer.address,
    deliver: network.deliver,
    finalise: network.finalise,
    stop: network.stop,
  }
})
