import { getAddress, hexlify, Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readNttMessage } from '../../../bridges/ntt/message.ts'
import { createNtt } from '../../../bridges/ntt/ntt.ts'
import { parseVaa, type Vaa } from '../../../domain/vaa.ts'
import { accountIndex, devnetAccount, devnetGuardians } from '../../../lab/devnet/chain/accounts.ts'
import { type Anvil, startAnvil } from '../../../lab/devnet/chain/anvil.ts'
import { type Call, createSender } from '../../../lab/devnet/chain/sender.ts'
import { postJson } from '../../../lab/devnet/chain/post.ts'
import { compiledArtifact } from '../../../lab/devnet/chain/solidity.ts'
import { managerAbi, type NttEnd, transceiverAbi } from '../../../lab/devnet/ntt/ntt-contracts.ts'
import { nttEffects, orderNtt } from '../../../lab/devnet/ntt/ntt-effects.ts'
import type { SentNttTransfer } from '../../../lab/devnet/ntt/ntt-users.ts'
import { deployNtt, type NttNetwork } from '../../../lab/devnet/ntt/ntt.ts'
import { until } from '../../../lab/devnet/until.ts'
import { type Guardian, startGuardian } from '../../../lab/devnet/wormhole/guardian.ts'
import { type SignedVaa, toUniversal } from '../../../lab/devnet/wormhole/vaa.ts'
import { chainPlan, deployWormhole, type WormholeChain } from '../../../lab/devnet/wormhole/wormhole.ts'
import { altered } from '../../helpers/vaa.ts'

/** An account that the contracts do not know. Anyone may deliver. */
const stranger = devnetAccount(accountIndex.outsider)
const rateLimitSeconds = 100
/**
 * Gas units. Measured: receiveMessage 224,000. With two transceivers: 157,000 for the first message, and 208,000 for
 * the second, or 148,000 if the transfer was executed before. completeInboundQueuedTransfer: 71,000. executeMsg:
 * 110,000.
 */
const gasLimit = 1_000_000n
const one = 10n ** 8n

describe('NTT on the devnet, with the real bytecode of 2.0.0', () => {
  let nodes: Anvil[] = []
  let chains: { ethereum: WormholeChain; bsc: WormholeChain }
  let guardian: Guardian

  beforeAll(async () => {
    const guardians = devnetGuardians(1)
    const started = await Promise.all([1337, 1397].map((chainId) => startAnvil({ chainId, blockTimeSeconds: 0.2 })))
    nodes = started
    const plans = [chainPlan('ethereum', 2, started[0]!, 0), chainPlan('bsc', 4, started[1]!, 1)] as const
    const [ethereum, bsc] = await deployWormhole(plans, { guardians })
    chains = { ethereum, bsc }
    guardian = await startGuardian([ethereum, bsc], { guardians })
  })

  afterAll(async () => {
    await guardian?.stop()
    await Promise.all(nodes.map((node) => node.stop()))
  })

  const vaaOf = ({ emitterChain, messages }: SentNttTransfer, index = 0): Promise<SignedVaa> => {
    const { emitter, sequence } = messages[index]!
    return guardian.waitFor(emitterChain, emitter, sequence)
  }

  describe('with one transceiver', () => {
    let ntt: NttNetwork
    let sample: Vaa
    beforeAll(async () => {
      ntt = await deployNtt(chains, { rateLimitSeconds })
      const [sent] = await ntt.users.ethereum.send([{ amount: one }])
      sample = parseVaa((await vaaOf(sent!)).bytes)
    })

    test('an NTT transfer is carried each way: locked, minted, burnt, released, with 18 and 9 decimals', async () => {
      const { ethereum, bsc } = ntt.ends
      const [there] = await ntt.users.ethereum.send([{ amount: 7n * one }])
      const vaa = await vaaOf(there!)
      expect(read(vaa)).toEqual({
        sourceManager: toUniversal(ethereum.manager),
        messageId: '1'.padStart(64, '0'),
        id: there!.digest,
        amount: String(7n * one),
        decimals: 8,
        recipient: there!.recipient,
      })
      expect(await effects(bsc, there!, vaa)).toEqual({ consumed: false, executed: false, queued: undefined, balance: 0n })
      expect(await perform(bsc, receive(bsc, vaa))).toEqual(['ReceivedMessage', 'MessageAttestedTo', 'TransferRedeemed'])
      expect(await effects(bsc, there!, vaa)).toEqual({ consumed: true, executed: true, queued: undefined, balance: 7n * 10n ** 9n })
      const [back] = await ntt.users.bsc.send([{ amount: 2n * one }])
      await perform(ethereum, receive(ethereum, await vaaOf(back!)))
      expect(await nttEffects(ethereum).balanceOf(back!.recipient)).toBe(2n * 10n ** 18n)
      const error = await refusal(bsc, receive(bsc, vaa))
      expect(error).toBe(`0xb4c3b00c TransferAlreadyCompleted ${vaa.digest}`)
      expect(meaningOf(error)).toBe('delivered')
    })

    test('the first messages of a transceiver are no transfers: its own data, and one per peer', async () => {
      const emitter = toUniversal(ntt.ends.ethereum.transceivers[0]!)
      for (const [sequence, prefix] of ['9c23bd3b', '18fc67c2'].entries()) {
        const vaa = await guardian.waitFor(2, emitter, BigInt(sequence))
        expect(read(vaa)).toBeUndefined()
        expect(await refusal(ntt.ends.bsc, receive(ntt.ends.bsc, vaa))).toBe(`0x56d2569d IncorrectPrefix 0x${prefix}`)
      }
    })

    test('above the inbound limit a transfer is queued, and anyone completes it when its time is over', async () => {
      const { bsc } = ntt.ends
      await orderNtt(bsc, 'setInboundLimit', 5n * 10n ** 9n, 2)
      const [sent] = await ntt.users.ethereum.send([{ amount: 6n * one }])
      const vaa = await vaaOf(sent!)
      expect(await perform(bsc, receive(bsc, vaa))).toEqual(['ReceivedMessage', 'MessageAttestedTo', 'InboundTransferQueued'])
      const queued = { amount: 6n * one, decimals: 8, since: expect.any(Number), recipient: sent!.recipient }
      expect(await effects(bsc, sent!, vaa)).toEqual({ consumed: true, executed: true, queued, balance: 0n })
      const since = (await nttEffects(bsc).queued(sent!.digest))!.since
      expect(await refusal(bsc, receive(bsc, vaa))).toBe(`0xb4c3b00c TransferAlreadyCompleted ${vaa.digest}`)
      expect(await refusal(bsc, complete(bsc, sent!))).toBe(`0xe5b9ce80 InboundQueuedTransferStillQueued ${sent!.digest} ${since}`)
      await bsc.anvil.rpc('evm_increaseTime', [rateLimitSeconds])
      await bsc.anvil.rpc('evm_mine')
      expect(await perform(bsc, complete(bsc, sent!))).toEqual(['TransferRedeemed'])
      expect(await effects(bsc, sent!, vaa)).toEqual({ consumed: true, executed: true, queued: undefined, balance: sent!.amount })
      const error = await refusal(bsc, complete(bsc, sent!))
      expect(error).toBe(`0xc06f2bc0 InboundQueuedTransferNotFound ${sent!.digest}`)
      expect(meaningOf(error)).toBe('delivered')
    })

    test('while the manager is paused nothing is received or completed, and the message stays unused', async () => {
      const { ethereum } = ntt.ends
      const [sent] = await ntt.users.bsc.send([{ amount: one }])
      const vaa = await vaaOf(sent!)
      await orderNtt(ethereum, 'pause')
      expect(await refusal(ethereum, receive(ethereum, vaa))).toBe('0x13c7a1e6 RequireContractIsNotPaused')
      expect(await refusal(ethereum, complete(ethereum, sent!))).toBe('0x13c7a1e6 RequireContractIsNotPaused')
      expect(await effects(ethereum, sent!, vaa)).toEqual({ consumed: false, executed: false, queued: undefined, balance: 0n })
      await orderNtt(ethereum, 'unpause')
      await perform(ethereum, receive(ethereum, vaa))
      expect(await nttEffects(ethereum).balanceOf(sent!.recipient)).toBe(sent!.amount)
    })

    // The transceiver message begins at byte 0 of the payload, the manager message at 70, the transfer at 136.
    test.each([
      ['another recipient manager', { at: 40, byte: 9 }, '0x73bdd322 UnexpectedRecipientNttManagerAddress'],
      ['another source manager', { at: 10, byte: 9 }, '0xaf1181fa InvalidPeer'],
      ['a recipient that is no EVM address', { at: 136 + 45, byte: 1 }, '0x33b960d0 NotAnEvmAddress'],
      ['another target chain', { at: 136 + 78, byte: 9 }, '0x3dcb204a InvalidTargetChain'],
      ['more decimals than a power of ten has bits for', { at: 136 + 4, byte: 200 }, '0x4e487b71 Panic'],
      ['a transfer of another kind', { at: 136, byte: 0 }, '0x56d2569d IncorrectPrefix'],
      ['a length that lies', { at: 69, byte: 0x90 }, '0xab8b67c6 LengthMismatch'],
    ])('a signed message with %s is refused for good', async (_, { at, byte }, error) => {
      const payload = altered(sample.payload, at, byte)
      const forged = guardian.sign({ ...sample, sequence: 999n, payload: hexlify(payload) })
      const refused = await refusal(ntt.ends.bsc, receive(ntt.ends.bsc, forged))
      expect(refused).toMatch(error)
      // A panic may have any cause, so the bridge does not interpret it.
      expect(meaningOf(refused)).toBe(error.endsWith('Panic') ? undefined : 'permanent')
    })

    test('a message of an emitter that is no peer is refused for good', async () => {
      const foreign = guardian.sign({ ...sample, sequence: 999n, emitter: 'ee'.repeat(32), payload: hexlify(sample.payload) })
      const refused = await refusal(ntt.ends.bsc, receive(ntt.ends.bsc, foreign))
      expect(refused).toBe(`0x79b1ce56 InvalidWormholePeer 2 0x${'ee'.repeat(32)}`)
      expect(meaningOf(refused)).toBe('permanent')
    })

    test('a manager that has too few tokens to unlock pays later', async () => {
      const { ethereum } = ntt.ends
      const { anvil, manager, token } = ethereum
      const [sent] = await ntt.users.bsc.send([{ amount: one }])
      const vaa = await vaaOf(sent!)
      const held = await nttEffects(ethereum).balanceOf(manager)
      const { abi } = await compiledArtifact('NttToken')
      await anvil.rpc('anvil_impersonateAccount', [manager])
      await anvil.rpc('anvil_setBalance', [manager, '0xde0b6b3a7640000'])
      const taken = act(token, abi, 'transfer', [stranger.address, held])
      await anvil.rpc('eth_sendTransaction', [{ ...taken, from: manager }])
      await until(async () => (await nttEffects(ethereum).balanceOf(manager)) === 0n, { timeoutMs: 20_000, what: 'the empty manager' })
      const refused = await refusal(ethereum, receive(ethereum, vaa))
      expect(refused).toBe(`0xe450d38c ERC20InsufficientBalance ${getAddress(manager)} 0 ${sent!.amount}`)
      expect(meaningOf(refused)).toBe('wait')
      await createSender(anvil, stranger, gasLimit)([act(token, abi, 'transfer', [manager, held])])
      await perform(ethereum, receive(ethereum, vaa))
      expect(await nttEffects(ethereum).balanceOf(sent!.recipient)).toBe(sent!.amount)
    })
  })

  describe('with two transceivers', () => {
    let ntt: NttNetwork
    beforeAll(async () => {
      ntt = await deployNtt(chains, { transceivers: 2 })
    })

    test('a threshold of two pays when both messages of a transfer are received', async () => {
      const { bsc } = ntt.ends
      const [sent] = await ntt.users.ethereum.send([{ amount: one }])
      const [first, second] = [await vaaOf(sent!, 0), await vaaOf(sent!, 1)]
      expect(sent!.messages.map(({ emitter }) => emitter)).toEqual(ntt.ends.ethereum.transceivers.map(toUniversal))
      expect([first, second].map((vaa) => read(vaa)?.id)).toEqual([sent!.digest, sent!.digest])
      expect(await refusal(bsc, receive(bsc, second, 0))).toBe(`0x79b1ce56 InvalidWormholePeer 2 0x${sent!.messages[1]!.emitter}`)
      expect(await perform(bsc, receive(bsc, first, 0))).toEqual(['ReceivedMessage', 'MessageAttestedTo'])
      expect(await nttEffects(bsc).attestations(sent!.digest)).toBe(1)
      expect(await effects(bsc, sent!, first)).toEqual({ consumed: true, executed: false, queued: undefined, balance: 0n })
      expect(await refusal(bsc, execute(bsc, first))).toBe(`0x451c4fb0 MessageNotApproved ${sent!.digest}`)
      expect(await perform(bsc, receive(bsc, second, 1))).toEqual(['ReceivedMessage', 'MessageAttestedTo', 'TransferRedeemed'])
      expect(await effects(bsc, sent!, first)).toEqual({ consumed: true, executed: true, queued: undefined, balance: sent!.amount })
    })

    test('after the threshold fell to one, anyone executes a transfer, and its second message pays nobody', async () => {
      const { bsc } = ntt.ends
      const [sent] = await ntt.users.ethereum.send([{ amount: one }])
      const [first, second] = [await vaaOf(sent!, 0), await vaaOf(sent!, 1)]
      await perform(bsc, receive(bsc, first, 0))
      await orderNtt(bsc, 'setThreshold', 1)
      expect(await perform(bsc, execute(bsc, first))).toEqual(['TransferRedeemed'])
      expect(await perform(bsc, receive(bsc, second, 1))).toEqual(['ReceivedMessage', 'MessageAttestedTo', 'MessageAlreadyExecuted'])
      expect(await effects(bsc, sent!, first)).toEqual({ consumed: true, executed: true, queued: undefined, balance: sent!.amount })
      expect(await nttEffects(bsc).isVaaConsumed(second.digest, 1)).toBe(true)
    })
  })
})

function read({ bytes }: SignedVaa) {
  const { payload, emitterChain } = parseVaa(bytes)
  return readNttMessage(payload, emitterChain)
}

async function effects(end: NttEnd, { digest, recipient }: SentNttTransfer, vaa: SignedVaa) {
  const state = nttEffects(end)
  return {
    consumed: await state.isVaaConsumed(vaa.digest),
    executed: await state.isMessageExecuted(digest),
    queued: await state.queued(digest),
    balance: await state.balanceOf(recipient),
  }
}

function act(to: string, abi: Interface, method: string, args: readonly unknown[]): Call {
  return { to, data: abi.encodeFunctionData(method, args) }
}

const receive = ({ transceivers }: NttEnd, { bytes }: SignedVaa, index = 0) =>
  act(transceivers[index]!, transceiverAbi, 'receiveMessage', [bytes])

const complete = ({ manager }: NttEnd, { digest }: SentNttTransfer) => act(manager, managerAbi, 'completeInboundQueuedTransfer', [digest])

function execute({ manager }: NttEnd, { bytes }: SignedVaa): Call {
  const { payload, emitterChain } = parseVaa(bytes)
  const message = payload.subarray(70, -2)
  const parts = [message.subarray(0, 32), message.subarray(32, 64), message.subarray(66)]
  return act(manager, managerAbi, 'executeMsg', [emitterChain, payload.subarray(4, 36), parts])
}

function meaningOf(error: string): string | undefined {
  return createNtt([], new Map()).reverts?.[error.slice(0, 10)]?.kind
}

async function allAbi(): Promise<Interface> {
  const structs = await compiledArtifact('TransceiverStructs')
  const token = new Interface(['error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)'])
  const all = [managerAbi, transceiverAbi, structs.abi, token].flatMap(({ fragments }) => fragments)
  return new Interface(all.filter(({ type }) => type === 'event' || type === 'error'))
}

async function perform({ anvil, manager, transceivers }: NttEnd, call: Call): Promise<(string | undefined)[]> {
  const abi = await allAbi()
  const [mined] = await createSender(anvil, stranger, gasLimit)([call])
  const ours = mined!.logs.filter(({ address }) => [manager, ...transceivers].includes(address.toLowerCase()))
  return ours.map((log) => abi.parseLog(log)?.name)
}

/**
 * Selector, name and arguments of the error with which the call reverts. If the call does not revert with an error, a
 * text that describes the result.
 */
async function refusal({ anvil }: NttEnd, call: Call): Promise<string> {
  const params = [{ ...call, from: stranger.address }, 'latest']
  const answer = (await postJson(anvil.url, { jsonrpc: '2.0', id: 1, method: 'eth_call', params })) as { error?: { data?: string } }
  const error = (await allAbi()).parseError(answer.error?.data ?? '0x')
  return error ? [error.selector, error.name, ...error.args].join(' ') : `no error of the contracts: ${JSON.stringify(answer)}`
}
