import { concat, encodeBytes32String, toBeHex } from 'ethers'
import { devnetGuardians, freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { artifact, Script } from '../../lab/devnet/chain/contracts.ts'
import type { SentTransfer } from '../../lab/devnet/wormhole/users.ts'
import { governance, type Message, registerChainPayload, signVaa, toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { tokenBridgeEmitters } from '../../bridges/wormhole-token-bridge/emitters.ts'
import type { ChainKey, Stage } from './e2e.ts'
import { transferPayload } from './vaa.ts'

const bridgeAbi = artifact('BridgeImplementation').abi
/** The guardians' own number of a message is not looked at. */
const message = { vaaNonce: 0, consistencyLevel: 1 } as const

/** A chain that is not in the devnet: its token bridge, as the mainnet's, with a token of its own that has a wrapper on the target. */
export interface ForeignChain {
  readonly emitter: string
  readonly stream: string
  /** A transfer of its token to this Wormhole chain, by default the target, as its guardians see it. */
  message(sequence: bigint, toChain?: number): Message
  /** The same as a user's transfer, for the judge. */
  sent(message: Message): SentTransfer
}

/** Makes the target's token bridge know the token bridge of this Wormhole chain, and a token that is native there: both by messages that the guardians sign. */
export async function registerForeign(stage: Stage, target: ChainKey, wormholeChainId: number, guardians = 1): Promise<ForeignChain> {
  const { chains, outsiders } = stage.devnet
  const [, name = '', emitter = ''] = tokenBridgeEmitters.mainnet.find(([id]) => id === wormholeChainId) ?? []
  const { anvil, tokenBridge, wormholeChainId: targetChain } = chains[target]
  const token = `${'ab'.repeat(31)}${wormholeChainId.toString(16).padStart(2, '0')}`
  const timestamp = Math.floor(Date.now() / 1_000)
  const head = { ...message, timestamp, sequence: 0n }
  const registration = registerChainPayload(wormholeChainId, `0x${emitter}`)
  const attestation = concat([
    '0x02',
    `0x${token}`,
    toBeHex(wormholeChainId, 2),
    toBeHex(8, 1),
    encodeBytes32String('TOK'),
    encodeBytes32String(name),
  ])
  const signed = (payload: string, emitterChain: number, from: string) =>
    signVaa({ ...head, vaaNonce: wormholeChainId, emitterChain, emitter: from, payload }, devnetGuardians(guardians)).bytes
  const script = await Script.of(anvil, outsiders[target])
  script.call(tokenBridge, bridgeAbi, 'registerChain', [signed(registration, governance.chain, governance.emitter)])
  script.call(tokenBridge, bridgeAbi, 'createWrapped', [signed(attestation, wormholeChainId, emitter)])
  await script.mine()
  const wrapper = bridgeAbi.encodeFunctionData('wrappedAsset', [wormholeChainId, `0x${token}`])
  const answer = await anvil.rpc<string>('eth_call', [{ to: tokenBridge, data: wrapper }, 'latest'])
  const asset = String(bridgeAbi.decodeFunctionResult('wrappedAsset', answer)[0]).toLowerCase()
  return {
    emitter,
    stream: `wormhole-token-bridge:wormhole-${wormholeChainId}:${emitter}`,
    message(sequence, toChain = targetChain) {
      const payload = transferPayload({
        token,
        tokenChain: wormholeChainId,
        to: toUniversal(freshAddress()),
        toChain,
        amount: 1_000n + sequence,
      })
      return { ...head, emitterChain: wormholeChainId, emitter, sequence, payload }
    },
    sent: ({ sequence, payload }) => ({
      ...{ kind: 'token', source: `wormhole-${wormholeChainId}`, target, emitterChain: wormholeChainId, emitter, sequence },
      // The payload's own bytes: its recipient is at 67, and its amount at 1.
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
