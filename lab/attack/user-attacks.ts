import { concat, dataLength, dataSlice, toBeHex, ZeroAddress } from 'ethers'
import { artifact, Script } from '../devnet/chain/contracts.ts'
import { compiledArtifact } from '../devnet/chain/solidity.ts'
import { nativeBridgeAbi } from '../devnet/native/native-bridge.ts'
import { isNative } from '../devnet/sent.ts'
import { published } from '../devnet/wormhole/wormhole.ts'
import { toUniversal } from '../devnet/wormhole/vaa.ts'
import { inventedTransfer } from './forged-calls.ts'
import type { PlannedAttack } from './plan.ts'
import type { AttackScene } from './scene.ts'

/** Sends transfers to the zero address, which the target's contract always refuses. */
export async function dust(scene: AttackScene, { chain }: PlannedAttack): Promise<string> {
  const { devnet, hostile, locks } = scene
  const transfers = Array.from({ length: 20 }, () => ({ amount: 1n, recipient: ZeroAddress }))
  hostile.push(...(await locks[chain].run(async () => (await devnet.native?.users[chain].send(transfers)) ?? [])))
  return `${transfers.length} native transfers of one unit from ${chain} to address zero`
}

/** Sends a token without a wrapper on the other chain. The transfer waits for an attestation that never comes. */
export async function noSuchToken({ devnet, locks }: AttackScene, { chain }: PlannedAttack): Promise<string> {
  const { anvil, tokenBridge, core, wormholeChainId } = devnet.chains[chain]
  const other = devnet.chains[chain === 'ethereum' ? 'bsc' : 'ethereum']
  const attacker = devnet.outsiders[chain]
  const code = await compiledArtifact('BridgeToken')
  const recipient = `0x${toUniversal(attacker.address)}`
  const sent = await locks[chain].run(async () => {
    const script = await Script.of(anvil, attacker)
    const token = script.deploy('BridgeToken', [], code)
    script.call(token, code.abi, 'mint', [attacker.address, 10n ** 12n])
    script.call(token, code.abi, 'approve', [tokenBridge, 10n ** 12n])
    const transfer = [token, 10n ** 8n, other.wormholeChainId, recipient, 0, 0]
    for (let count = 0; count < 10; count++) script.call(tokenBridge, artifact('BridgeImplementation').abi, 'transferTokens', transfer)
    return (await script.mine()).flatMap((mined) => published(mined, core, wormholeChainId))
  })
  return `${sent.length} transfers of a token that ${other.name} does not know`
}

/** Sends a coin back to its own chain, to a contract that burns all gas. */
export function gasBurner(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  // Bytecode: JUMPDEST, PUSH1 0, JUMP.
  return coinsHomeTo(scene, attack, '0x5b600056', 'that loops')
}

/**
 * Sends a coin back to its own chain, to a contract that accepts coins in a simulation (gas price 0) and reverts in a
 * block.
 */
export function twoFaced(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  // Bytecode that stops if GASPRICE is 0 and reverts otherwise.
  return coinsHomeTo(scene, attack, '0x3a15600957600080fd5b00', 'that reverts in a block')
}

async function coinsHomeTo(
  { devnet, hostile, locks }: AttackScene,
  { chain }: PlannedAttack,
  runtime: string,
  what: string,
): Promise<string> {
  const target = chain === 'ethereum' ? 'bsc' : 'ethereum'
  const { anvil } = devnet.chains[target]
  const recipient = await locks[target].run(async () => {
    const script = await Script.of(anvil, devnet.outsiders[target])
    const address = script.deploy('contract', [], { abi: artifact('MockWETH9').abi, bytecode: deploying(runtime) })
    await script.mine()
    return address
  })
  const transfers = Array.from({ length: 3 }, (_, index) => ({ kind: 'coin-home', amount: 10n ** 15n + BigInt(index), recipient }) as const)
  hostile.push(...(await locks[chain].run(() => devnet.users[chain].send(transfers))))
  return `${transfers.length} coins home to a contract on ${target} ${what}`
}

function deploying(runtime: string): string {
  const size = dataLength(runtime)
  return concat([toBeHex(0x5f + size, 1), runtime, '0x600052', '0x60', toBeHex(size, 1), '0x60', toBeHex(32 - size, 1), '0xf3'])
}

/**
 * Logs BridgeTransferInitiated from a contract that is not the bridge's. The target's contract would pay, so Portage
 * must check which contract logged the event.
 */
export async function lookAlike(scene: AttackScene, { chain, dice }: PlannedAttack): Promise<string> {
  const { devnet, locks } = scene
  const target = chain === 'ethereum' ? 'bsc' : 'ethereum'
  const { id, initiator, recipient, amount, nonce } = inventedTransfer(scene, target, nextNonce(scene, chain, dice)).claim
  const abi = await nativeBridgeAbi()
  const { data, topics } = abi.encodeEventLog('BridgeTransferInitiated', [id, initiator, recipient, amount, nonce])
  await locks[chain].run(async () => {
    const script = await Script.of(devnet.chains[chain].anvil, devnet.outsiders[chain])
    script.deploy('contract', [], { abi: artifact('MockWETH9').abi, bytecode: logging(data, topics) })
    await script.mine()
  })
  return `a transfer of ${amount} units to the thief`
}

/** The latest recorded nonce plus 0 to 4, because Portage never asks for nonces far above the latest. */
function nextNonce({ sent }: AttackScene, chain: PlannedAttack['chain'], dice: number): bigint {
  const nonces = sent.filter(isNative).filter(({ source }) => source === chain)
  const highest = nonces.reduce((most, { nonce }) => (nonce > most ? nonce : most), 0n)
  return highest + BigInt(Math.floor(dice * 5))
}

/** Deployment code that writes one log and deploys nothing. */
function logging(data: string, topics: readonly string[]): string {
  const words = Array.from({ length: dataLength(data) / 32 }, (_, index) => dataSlice(data, index * 32, index * 32 + 32))
  const stored = words.flatMap((word, index) => ['0x7f', word, '0x60', toBeHex(index * 32, 1), '0x52'])
  const pushed = topics.toReversed().flatMap((topic) => ['0x7f', topic])
  return concat([...stored, ...pushed, '0x60', toBeHex(dataLength(data), 1), '0x6000', toBeHex(0xa0 + topics.length, 1), '0x00'])
}
