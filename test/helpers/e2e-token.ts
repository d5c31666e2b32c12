import { artifact, Script } from '../../lab/devnet/chain/contracts.ts'
import type { SentTransfer } from '../../lab/devnet/wormhole/users.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { published, wrappedAsset } from '../../lab/devnet/wormhole/wormhole.ts'
import type { ChainKey, Stage } from './e2e.ts'

const bridgeAbi = artifact('BridgeImplementation').abi
const tokenAbi = artifact('TokenImplementation').abi
const amount = 10n ** 18n

/** A token without a wrapper. Its transfers wait (WRAPPER_MISSING) until somebody attests the token. */
export interface UnattestedToken {
  /** The transfers. They lack `asset`, which is unknown until the wrapper exists. */
  readonly transfers: readonly SentTransfer[]
  /** Attests the token and creates its wrapper. Resolves with the transfers, now with `asset`. */
  attest(): Promise<SentTransfer[]>
}

/** Makes a token on `source` and sends `count` transfers of it to the other chain, as an outsider. */
export async function sendUnattested(stage: Stage, source: ChainKey, count: number): Promise<UnattestedToken> {
  const { chains, outsiders, guardian } = stage.devnet
  const target = chains[source === 'ethereum' ? 'bsc' : 'ethereum']
  const { anvil, core, tokenBridge, wormholeChainId, name } = chains[source]
  const outsider = outsiders[source]
  const script = await Script.of(anvil, outsider)
  const token = script.deploy('TokenImplementation')
  script.call(token, tokenAbi, 'initialize', ['Devnet newcomer', 'NEW', 18, 0, outsider.address, 0, `0x${toUniversal(token)}`])
  script.call(token, tokenAbi, 'mint', [outsider.address, 1000n * amount])
  script.call(token, tokenAbi, 'approve', [tokenBridge, 1000n * amount])
  const recipients = Array.from({ length: count }, () => freshAddress().toLowerCase())
  for (const recipient of recipients) {
    script.call(tokenBridge, bridgeAbi, 'transferTokens', [token, amount, target.wormholeChainId, `0x${toUniversal(recipient)}`, 0, 0])
  }
  const mined = await script.mine()
  const emitter = toUniversal(tokenBridge)
  const transfers = mined.slice(-count).map((transaction, index): SentTransfer => {
    const [message] = published(transaction, core, wormholeChainId)
    if (!message) throw new Error(`transaction ${transaction.transactionHash} published nothing`)
    const origin = `${wormholeChainId}/${toUniversal(token)}`
    const recipient = recipients[index] ?? ''
    const way = {
      kind: 'token' as const,
      source: name,
      target: target.name,
      emitterChain: wormholeChainId,
      emitter,
      sequence: message.sequence,
    }
    return { ...way, recipient, amount, fee: 0n, asset: '', origin, txHash: transaction.transactionHash, sentAt: transaction.timestamp }
  })
  return {
    transfers,
    async attest() {
      const attesting = await Script.of(anvil, outsider)
      attesting.call(tokenBridge, bridgeAbi, 'attestToken', [token, 0])
      const [attested] = await attesting.mine()
      const [message] = attested ? published(attested, core, wormholeChainId) : []
      if (!message) throw new Error('the attestation published nothing')
      const creating = await Script.of(target.anvil, outsiders[target.name as ChainKey])
      creating.call(target.tokenBridge, bridgeAbi, 'createWrapped', [guardian.sign(message).bytes])
      await creating.mine()
      const asset = await wrappedAsset(target.anvil, target.tokenBridge, wormholeChainId, token)
      return transfers.map((transfer) => ({ ...transfer, asset }))
    },
  }
}
