import { concat, getBytes, hexlify, randomBytes, toBeHex } from 'ethers'
import { devnetAccount, devnetGuardians } from '../devnet/chain/accounts.ts'
import { type Message, encodeBody, signVaa, toUniversal } from '../devnet/wormhole/vaa.ts'
import type { PlannedAttack } from './plan.ts'
import { falseGuardian, inventedNtt } from './forged-calls.ts'
import { inventedMessage, inventedPayload3 } from './forged-deliveries.ts'
import { attackDevnet, type AttackScene } from './scene.ts'

/** First invented sequence number, above all numbers that the bridges publish. */
export const firstInvented = 10_000_000n

const messages = 2_000

/** Publishes unsigned messages of a guardian set that does not exist. A spy does not check signatures. */
export async function spyJunk(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const unsigned = concat([toBeHex(1, 1), toBeHex(0xffffffff, 4), toBeHex(0, 1)])
  return publish(scene, attack, (message) => getBytes(concat([unsigned, encodeBody(message)])))
}

export async function spyWrongGuardian(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  return publish(scene, attack, (message) => signVaa(message, [devnetAccount(falseGuardian)]).bytes, 50)
}

/** Publishes messages with one signature of three, as if one guardian's key had been stolen. */
export async function spyOneGuardian(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  return publish(scene, attack, (message) => signVaa(message, devnetGuardians(attackDevnet.guardians), [0]).bytes, 50)
}

/** Index of the invented guardian set: the next index after the devnet's only set. */
export const falseSetIndex = 1

/** Publishes messages signed by guardian set 1, whose only guardian is the attacker. Lying nodes confirm that set. */
export function spyFalseSet(scene: AttackScene, { chain: target, dice }: Pick<PlannedAttack, 'chain' | 'dice'>): void {
  const chain = target === 'ethereum' ? 'bsc' : 'ethereum'
  publish(scene, { chain, dice }, (message) => signVaa(message, [devnetAccount(falseGuardian)], [0], falseSetIndex).bytes, 50)
}

/**
 * Publishes signed messages of an emitter that belongs to the attacker. Anybody can have guardians sign such messages.
 */
export async function spyForeignEmitter(scene: AttackScene, attack: PlannedAttack): Promise<string> {
  const emitter = toUniversal(scene.devnet.outsiders[attack.chain].address)
  const guardians = devnetGuardians(attackDevnet.guardians)
  return publish(scene, attack, (message) => signVaa({ ...message, emitter }, guardians).bytes, 50)
}

/**
 * Sends bytes that are not protobuf, truncated protobuf, wrong lengths, messages without a VAA, and a well-formed
 * message of 5 MB.
 */
export async function spyMalformed({ devnet, wait }: AttackScene, { forMs }: PlannedAttack): Promise<string> {
  const forms = [
    randomBytes(200),
    getBytes('0x'),
    getBytes('0x0a'),
    getBytes('0x0affffffff0f01'),
    getBytes('0x0aff01'),
    getBytes('0x0affffffffffffffffffff01'),
    getBytes('0x1a0401020304'),
    getBytes('0x080a'),
    // Field 1 with its length, 5,000,000, as a varint.
    concatBytes(getBytes('0x0ac096b102'), new Uint8Array(5_000_000)),
  ]
  let sent = 0
  for (const until = Date.now() + forMs; Date.now() < until; await wait(100)) {
    for (const form of forms)
      for (let index = 0; index < (form.length > 1_000 ? 1 : 20); index++, sent++) devnet.guardian.spy.publishRaw(form)
  }
  return `${sent} answers of the spy`
}

function concatBytes(head: Uint8Array, tail: Uint8Array): Uint8Array {
  return Buffer.concat([head, tail])
}

/**
 * Publishes invented transfers of the token bridge and of NTT, payload-3 transfers, and messages for a route to a
 * contract, in equal numbers.
 */
function publish(
  scene: AttackScene,
  { chain, dice }: Pick<PlannedAttack, 'chain' | 'dice'>,
  sign: (message: Message) => Uint8Array,
  count = messages,
): string {
  const { devnet, thief } = scene
  const [source, targetName] = [devnet.chains[chain], chain === 'ethereum' ? 'bsc' : 'ethereum'] as const
  const target = devnet.chains[targetName]
  const amount = toBeHex(10n ** 9n, 32)
  const token = concat([`0x${toUniversal(source.weth)}`, toBeHex(source.wormholeChainId, 2)])
  const payload = concat([
    toBeHex(1, 1),
    amount,
    token,
    `0x${toUniversal(thief.address)}`,
    toBeHex(target.wormholeChainId, 2),
    toBeHex(0, 32),
  ])
  const invented = [
    { emitter: toUniversal(source.tokenBridge), payload },
    inventedNtt(scene, targetName),
    inventedPayload3(scene, targetName),
    inventedMessage(scene, targetName, scene.hasPlugin ? 'packaged' : 'listed'),
  ] as const
  const first = firstInvented + BigInt(Math.floor(dice * 1_000_000_000))
  for (let index = 0; index < count; index++) {
    const sequence = first + BigInt(index)
    const vaaNonce = Number(BigInt(hexlify(randomBytes(4))))
    const timestamp = Math.floor(Date.now() / 1000)
    const message = {
      timestamp,
      vaaNonce,
      emitterChain: source.wormholeChainId,
      sequence,
      consistencyLevel: 1,
      ...invented[(index % invented.length) as 0 | 1 | 2 | 3],
    }
    devnet.guardian.spy.publish(sign(message), source.wormholeChainId, message.emitter)
  }
  return `${count} messages of ${chain}`
}
