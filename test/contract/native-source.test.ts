import { batchIntent } from '../../bridges/native-bridge/calls.ts'
import { createEvmEndpoint } from '../../bridges/native-bridge/evm.ts'
import { createVerifiedMessages } from '../../bridges/kit/verified-messages.ts'
import { createNativeBridge } from '../helpers/native-parts.ts'
import { readMessage } from '../../bridges/native-bridge/message.ts'
import { createNativeSource } from '../../bridges/native-bridge/streams.ts'
import { startNativeBridge } from '../helpers/native-bridge.ts'
import { type ScannedSourceHarness, scannedSourceSuite } from './source-adapter.ts'

scannedSourceSuite('native-bridge', async (): Promise<ScannedSourceHarness> => {
  const network = await startNativeBridge('fixed')
  const { route } = network
  const [source, target] = [network.source.chain, network.target.chain]
  const verified = createVerifiedMessages()
  const stream = createNativeSource({ route, source, target, startBlock: 0, maxOpen: 100, verified })
  const endpoint = createEvmEndpoint({ chain: target, routes: [{ ...route, source }], verified })
  return {
    source: stream,
    bridge: createNativeBridge({ routes: [route], endpoints: new Map([['target', endpoint]]), sources: [stream] }),
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
      await network.deliver(batchIntent(route.targetBridge, messages))
    },
    stop: network.stop,
  }
})
