import { bumpFees } from '../../domain/fees/fees.ts'
import { devnetSigner, networkId, payment, startManualAnvil, testChain } from '../helpers/evm.ts'
import { deployReverting } from '../helpers/reverting.ts'
import { type ChainHarness, chainAdapterSuite } from './chain-adapter.ts'

chainAdapterSuite('evm', async (): Promise<ChainHarness> => {
  const anvil = await startManualAnvil()
  return {
    url: anvil.url,
    networkId: String(networkId),
    chain: ({ nodes = [anvil.url], ...options } = {}) => testChain(nodes, options),
    signer: devnetSigner,
    transaction: payment,
    replacement: (transaction) => ({ ...transaction, ...bumpFees([transaction], transaction) }),
    async reverting() {
      const { address } = await deployReverting(anvil, 'not today')
      return { intent: { to: address, data: '0x', value: '0' }, reason: 'not today' }
    },
    mine: anvil.mine,
    reorganise: async (depth) => void (await anvil.rpc('anvil_reorg', [depth, []])),
    stop: anvil.stop,
  }
})
