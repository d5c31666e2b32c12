import { batchIntent } from '../../bridges/native-bridge/calls.ts'
import { readMessage } from '../../bridges/native-bridge/message.ts'
import { createNativeBridge, startNativeBridge } from '../helpers/native-bridge.ts'
import { type ScannedSourceHarness, scannedSourceSuite } from './source-adapter.ts'

scannedSourceSuite('native-bridge', async (): Promise<ScannedSourceHarness> => {
  const network = await startNativeBridge('fixed')
  const { bridge, stream } = createNativeBridge(network, { maxOpen: 100 })
  return {
    source: stream,
    bridge,
    async start(count) {
      await network.start(...Array.from({ length: count }, (_, index) => BigInt(index + 1)))
    },
    async finalise(end) {
      const { chain, finalise } = network[end]
      const height = chain.heads.current?.latest.height ?? 0
      await finalise()
      return height
    },
    async deliver(transfers) {
      const messages = transfers.map(({ message }) => readMessage(Buffer.from(message, 'base64')))
      await network.deliver(batchIntent(network.route.targetBridge, messages))
    },
    stop: network.stop,
  }
})
