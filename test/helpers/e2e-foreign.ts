import { concat, encodeBytes32String, toBeHex } from 'ethers'
import { devnetGuardians, freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { artifact, Script } from '../../lab/devnet/chain/contracts.ts'
import type { SentTransfer } from '../../lab/devnet/wormhole/users.ts'
import { governance, type Message, registerChainPayload, signVaa, toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { tokenBridgeEmitters } from '../../bridges/wormhole-token-bridge/emitters.ts'
import type { ChainKey, Stage } from './e2e.ts'
import { transferPayload } from './vaa.ts'

const bridgeAbi = artifact('BridgeImplementation').abi
/** Fields of a message that nothing reads. */
const message = { vaaNonce: 0, consistencyLevel: 1 } as const

/** A chain outside the devnet, with its mainnet emitter, and with a token that has a wrapper on the target. */
export interface ForeignChain {
  readonly emitter: string
  readonly stream: string
  message(sequence: bigint, toChain?: number): Message
  sent(message: Message): SentTransfer
}

/** Registers the token bridges of `ids`, and creates a wrapper for a token of each, in one block. */
export async function registerForeign(stage: Stage, target: ChainKey, ids: readonly number[]): Promise<ForeignChain[]> {
  const { chains, outsiders } = stage.devnet
  const { anvil, tokenBridge, wormholeChainId: targetChain } = chains[target]
  const timestamp = Math.floor(Date.now() / 1_000)
  const known = ids.map((wormholeChainId) => {
    const [, name = '', emitter = ''] = tokenBridgeEmitters.mainnet.find(([id]) => id === wormholeChainId) ?? []
    return { wormholeChainId, name, emitter, token: `${'ab'.repeat(31)}${wormholeChainId.toString(16).padStart(2, '0')}` }
  })
  const script = await Script.of(anvil, outsiders[target])
  for (const { wormholeChainId, name, emitter, token } of known) {
    const signed = (payload: string, emitterChain: number, from: string) => {
      const head = { ...message, vaaNonce: wormholeChainId, timestamp, sequence: 0n }
      return signVaa({ ...head, emitterChain, emitter: from, payload }, devnetGuardians(1)).bytes
    }
    const texts = [encodeBytes32String('TOK'), encodeBytes32String(name)]
    const attestation = concat(['0x02', `0x${token}`, toBeHex(wormholeChainId, 2), toBeHex(8, 1), ...texts])
    const registration = registerChainPayload(wormholeChainId, `0x${emitter}`)
    script.call(tokenBridge, bridgeAbi, 'registerChain', [signed(registration, governance.chain, governance.emitter)])
    script.call(tokenBridge, bridgeAbi, 'createWrapped', [signed(attestation, wormholeChainId, emitter)])
  }
  await script.mine()
  return Promise.all(
    known.map(async (one) => {
      const wrapper = bridgeAbi.encodeFunctionData('wrappedAsset', [one.wormholeChainId, `0x${one.token}`])
      const answer = await anvil.rpc<string>('eth_call', [{ to: tokenBridge, data: wrapper }, 'latest'])
      const asset = String(bridgeAbi.decodeFunctionResult('wrappedAsset', answer)[0]).toLowerCase()
      return foreignChain({ ...one, target, targetChain, asset, timestamp })
    }),
  )
}

interface Known {
  readonly wormholeChainId: number
  readonly emitter: string
  readonly token: string
  readonly target: ChainKey
  readonly targetChain: number
  readonly asset: string
  readonly timestamp: number
}

function foreignChain({ wormholeChainId, emitter, token, target, targetChain, asset, timestamp }: Known): ForeignChain {
  return {
    emitter,
    stream: `wormhole-token-bridge:wormhole-${wormholeChainId}:${emitter}`,
    message(sequence, toChain = targetChain) {
      const fields = { token, tokenChain: wormholeChainId, to: toUniversal(freshAddress()), toChain, amount: 1_000n + sequence }
      return { ...message, timestamp, emitterChain: wormholeChainId, emitter, sequence, payload: transferPayload(fields) }
    },
    sent: ({ sequence, payload }) => ({
      ...{ kind: 'token', source: `wormhole-${wormholeChainId}`, target, emitterChain: wormholeChainId, emitter, sequence },
      // The amount begins at byte 1, and the recipient at byte 67. The last 20 bytes of the recipient count.
      recipient: `0x${payload.slice(2 + 2 * 79, 2 + 2 * 99)}`,
      ...{
        amount: BigInt(`0x${payload.slice(4, 68)}`),
        fee: 0n,
        asset,
        origin: `${wormholeChainId}/${token}`,
        txHash: '',
        sentAt: timestamp,
      },
    }),
  }
}
