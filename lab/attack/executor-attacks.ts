import { concat, dataSlice, hexlify, keccak256, randomBytes, toBeHex, zeroPadValue } from 'ethers'
import { Script } from '../devnet/chain/contracts.ts'
import { compiledArtifact } from '../devnet/chain/solidity.ts'
import type { ExecutorNetwork } from '../devnet/executor/network.ts'
import { type ExecutorMessage, instructionsOf } from '../devnet/executor/users.ts'
import { toUniversal } from '../devnet/wormhole/vaa.ts'
import type { PlannedAttack } from './plan.ts'
import type { AttackScene } from './scene.ts'

interface Forgery extends Omit<ExecutorMessage, 'payload' | 'pay'> {
  readonly quote: string
  /** Wei. */
  readonly pay: bigint
}

const tooLittleGas = 30_000n

/**
 * Sends real messages with requests that Portage must not fulfil: the quote is forged or changed, or the payment does
 * not cover the request. One further request is paid but asks for too little gas, and two others pay for the same
 * message.
 */
export async function forgedRequests({ devnet, locks, thief }: AttackScene, { chain }: PlannedAttack): Promise<string> {
  const network = devnet.executor
  if (!network) throw new Error('The devnet was started without an Executor')
  const [from, to] = chain === 'ethereum' ? [network.ends.ethereum, network.ends.bsc] : [network.ends.bsc, network.ends.ethereum]
  const { signedQuote: quote, estimatedCost: price } = network.quoteOf(chain, 'plain')
  // Payments go to an outsider, because every coin that the thief gets counts as stolen.
  const payee = zeroPadValue(devnet.outsiders[chain].address, 32)
  const body = (quoter: string) => concat([dataSlice(quote, 0, 4), quoter, payee, dataSlice(quote, 56, 68), free])
  const signed = (bytes: string) => concat([bytes, thief.signingKey.sign(keccak256(bytes)).serialized])
  const loot = { amount: 10n ** 16n, recipient: thief.address.toLowerCase() }
  const gasLimit = network.gasLimit
  const forgeries: readonly Forgery[] = [
    { quote: signed(body(thief.address)), pay: 1n, gasLimit },
    { quote: signed(body(dataSlice(quote, 4, 24))), pay: 1n, gasLimit },
    { quote: concat([dataSlice(quote, 0, 68), free, dataSlice(quote, 100)]), pay: 1n, gasLimit },
    { quote: dataSlice(quote, 0, 100), pay: price, gasLimit },
    { quote, pay: price - 1n, gasLimit },
    { quote, pay: price, gasLimit: gasLimit + 1n },
    { quote, pay: price, gasLimit, msgValue: 1n },
    { quote, pay: price, gasLimit, dropOff: loot },
    { quote, pay: 10n ** 18n, gasLimit: 2n ** 127n },
    { quote, pay: 10n ** 18n, gasLimit, dropOff: { ...loot, amount: 2n ** 100n } },
    { quote, pay: price, gasLimit: tooLittleGas },
  ]
  const [senderAbi, executorAbi] = [(await compiledArtifact('MessageSender')).abi, (await compiledArtifact('Executor')).abi]
  const [target, receiver] = [to.chain.wormholeChainId, `0x${toUniversal(to.receiver)}`]
  await locks[chain].run(async () => {
    const script = await Script.of(from.chain.anvil, devnet.outsiders[chain])
    for (const { quote: used, pay, ...message } of forgeries)
      script.call(from.sender, senderAbi, 'send', [hexlify(randomBytes(32)), target, receiver, used, instructionsOf(message)], pay)
    await script.mine()
    const again = await Script.of(from.chain.anvil, devnet.outsiders[chain])
    const request = concat(['0x45525631', toBeHex(from.chain.wormholeChainId, 2), `0x${toUniversal(from.sender)}`, toBeHex(0, 8)])
    const args = [target, receiver, thief.address, quote, request, instructionsOf({ gasLimit })]
    for (let times = 0; times < 2; times++) again.call(from.executor, executorAbi, 'requestExecution', args, price)
    await again.mine()
  })
  const others = await locks[chain].run(() => transfersOfOthers(network, chain, { devnet, thief }))
  return `${forgeries.length} requests, two paid requests for one message, and ${others} for transfers that are not in the requesting transaction`
}

/**
 * Sends requests for an NTT transfer and for burns that are not in the requesting transaction, and requests of unknown
 * forms. Sends each with the right payment, with a lower payment, and with coins that the payment does not cover.
 */
async function transfersOfOthers(
  network: ExecutorNetwork,
  chain: 'ethereum' | 'bsc',
  { devnet, thief }: Pick<AttackScene, 'devnet' | 'thief'>,
): Promise<number> {
  const [from, to] = chain === 'ethereum' ? (['ethereum', 'bsc'] as const) : (['bsc', 'ethereum'] as const)
  const { chain: source, executor } = network.ends[from]
  const [dstChain, outsider] = [network.ends[to].chain.wormholeChainId, devnet.outsiders[chain]]
  const { signedQuote, estimatedCost: price } = network.quoteOf(chain, 'plain')
  const gas = { gasLimit: network.gasLimit }
  const executorAbi = (await compiledArtifact('Executor')).abi
  const { ntt, cctp } = network.paid[from]
  const script = await Script.of(source.anvil, outsider)
  const ask = (request: string, pay: bigint, wanted: Parameters<typeof instructionsOf>[0] = gas) =>
    script.call(
      executor,
      executorAbi,
      'requestExecution',
      [dstChain, nobody, thief.address, signedQuote, request, instructionsOf(wanted)],
      pay,
    )
  const requests = [
    concat(['0x45524e31', toBeHex(source.wormholeChainId, 2), `0x${toUniversal(ntt?.manager ?? executor)}`, toBeHex(1, 32)]),
    concat(['0x45524331', toBeHex(cctp?.domain ?? 0, 4), toBeHex(0, 8)]),
    '0x4552433201',
    // Forms of requests that Portage does not know.
    '0x4552433202',
    '0x45524331',
  ]
  for (const request of requests) {
    ask(request, price)
    ask(request, price - 1n)
    ask(request, price, { ...gas, msgValue: 1n })
  }
  return (await script.mine()).length
}

const nobody = toBeHex(0, 32)

/** Prices of a quote: gas costs nothing, and the coins of both chains have the same price. */
const free = concat([toBeHex(0, 8), toBeHex(0, 8), toBeHex(1, 8), toBeHex(1, 8)])
