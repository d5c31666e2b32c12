import { id } from 'ethers'
import { describe, expect, test } from 'vitest'
import { coreAbi } from '../../bridges/kit/signed-messages.ts'
import type { Plugin } from '../../bridges/kit/plugin.ts'
import type { Endpoint, SignedSource } from '../../bridges/port.ts'
import { createBridges } from '../../bridges/registry.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { createSubmitter } from '../../intake/submit/submitter.ts'
import { codeOf, codeOfAsync } from '../helpers/refusals.ts'
import { unused } from '../helpers/unused.ts'
import { signVaa } from '../helpers/vaa.ts'
import { contract, coreChain, entry, options, routes as all } from './plugin-source.ts'

const emitter = `${'0'.repeat(24)}${'ee'.repeat(20)}`
const routes = [{ ...all[0]!, from: [{ source: 'ethereum', emitter }] }]

/** A bridge with a plug-in, and the names of the plug-in's functions that were called. */
function setting() {
  const asked: string[] = []
  const ask = <T>(part: string, answer: T) => (asked.push(part), answer)
  const plugin: Plugin<unknown> = {
    name: 'mine',
    routes,
    decode: ({ payload }) => ask('decode', payload[1] === 9 ? undefined : {}),
    stages: { deliver: { call: ({ bytes }) => ask('call', { contract, function: 'take(bytes)', args: [bytes] }), revertsOnceDone: true } },
    delivered: ({ digest }) => ask('delivered', [{ contract, view: 'isDone(bytes32)', args: [digest], returns: 'bool', is: [true] }]),
    parties: () => ask('parties', { recipient: contract, token: 'mine' }),
    next: async () => ask('next', { stage: 'deliver' }),
    policy: () => ask('policy', { accept: true as const }),
    earned: () => ask('earned', 1n),
  }
  const ethereum = { ...coreChain('ethereum'), logs: async () => logs, block: async () => ({ hash: '0x', timestamp: 1 }) }
  const chains = new Map([ethereum, coreChain('bsc')].map((chain) => [chain.name, chain as never]))
  const config = options({ mine: entry({ module: 'a.mjs', sha256: 'ab'.repeat(32) }, { routes }) })
  const bridges = createBridges(config, chains, undefined, { loaded: new Map([['mine', plugin]]) })
  const { submit } = createSubmitter({ bridges, client: unused('client') as never })
  const bridge = bridges.get('mine')!
  return { asked, bridge, endpoint: bridge.endpoints.get('bsc')!, submit }
}

const payloads = ['0x0102', '0x0109', '0x02']
const topics = [id('LogMessagePublished(address,uint64,uint32,bytes,uint8)'), `0x${emitter}`]
const logs = payloads.map((payload, sequence) => ({
  ...{ address: contract, topics, block: { height: 5, hash: '0x' } },
  data: coreAbi.encodeEventLog('LogMessagePublished', [`0x${emitter.slice(24)}`, sequence, 0, payload, 1]).data,
}))

const bytesOf = (payload: string, signers?: readonly number[]) =>
  signVaa({ emitterChain: 2, emitter, sequence: 7n, payload }, { guardians: 1, ...(signers && { signers }) }).bytes
const [unsigned, signed] = [bytesOf('0x0102', []), bytesOf('0x0102')]

describe('A message that nobody signed', () => {
  test.each(['mine', 'wormhole-token-bridge'])('an unsigned message that is submitted to %s is not passed to a plug-in', async (name) => {
    const { asked, submit } = setting()
    expect(await codeOfAsync(() => submit(name, unsigned))).toBe('VAA_NO_QUORUM')
    expect(await codeOfAsync(() => submit(name, unsigned, { repeats: 'skip' }))).toBe('VAA_NO_QUORUM')
    expect(asked).toEqual([])
  })

  const { bridge, endpoint, asked } = setting()
  const transfer = { ...bridge.decode(signed), message: Buffer.from(unsigned).toString('base64') }
  test.each<[string, (one: Transfer) => unknown, unknown]>([
    ['validate', (one) => endpoint.validate(one), { kind: 'rejected', code: 'VAA_NO_QUORUM' }],
    ['delivered', (one) => endpoint.delivered(one, 'latest'), false],
    ['mayShow', (one) => endpoint.mayShow?.(one), false],
    ['passed', (one) => endpoint.stages?.passed(one, 'deliver', 'latest'), false],
    ['next', (one) => codeOfAsync(async () => endpoint.stages?.next(one)), 'VAA_NO_QUORUM'],
    ['demandSigned', (one) => codeOfAsync(async () => endpoint.demandSigned?.(one)), 'VAA_NO_QUORUM'],
    ['delivery', (one) => codeOf(() => endpoint.delivery(one)), 'PLUGIN_FAILED'],
    ['plan', (one) => codeOf(() => endpoint.plan?.(one)), 'PLUGIN_FAILED'],
    ['content', (one) => bridge.content(Buffer.from(one.message, 'base64')), {}],
  ])('an unsigned message in a step of a foreign workflow is not passed to a plug-in: %s', async (_, step, answer) => {
    const found = await step(transfer)
    if (typeof answer === 'object') expect(found).toMatchObject(answer as object)
    else expect(found).toBe(answer)
    expect(asked).toEqual([])
  })
})

describe('A message that guardians signed', () => {
  const steps: readonly [string, (endpoint: Endpoint, transfer: Transfer) => unknown][] = [
    ['validated', (endpoint, transfer) => endpoint.validate(transfer)],
    ['prepared', (endpoint, transfer) => endpoint.demandSigned?.(transfer)],
    ['looked for', (endpoint, transfer) => endpoint.delivered(transfer, 'latest')],
  ]
  test.each(steps)('a signed message is planned by its plug-in in a process in which it was first %s', async (_, step) => {
    const { bridge, endpoint } = setting()
    const transfer = bridge.decode(signed)
    await step(endpoint, transfer)
    expect(endpoint.plan?.(transfer)).toMatchObject({ to: contract, function: 'take(bytes)' })
    expect(endpoint.delivery(transfer).parties).toMatchObject({ recipient: contract })
    expect(bridge.content(signed)).toEqual({ recipient: contract, token: 'mine' })
  })

  test('a submitted signed message is refused if its plug-in does not deliver it', async () => {
    const { asked, submit } = setting()
    const [foreign, copy] = [bytesOf('0x0109'), bytesOf('0x0109', [])]
    expect(await codeOfAsync(() => submit('mine', copy, { repeats: 'skip' }))).toBe('VAA_NO_QUORUM')
    expect(asked).toEqual([])
    expect(await codeOfAsync(() => submit('mine', foreign, { repeats: 'skip' }))).toBe('PAYLOAD_KIND')
    expect(asked).toEqual(['decode'])
    // The signatures of another copy of the same message are not verified.
    expect(await codeOfAsync(() => submit('mine', copy, { repeats: 'skip' }))).toBe('PAYLOAD_KIND')
    expect(await codeOfAsync(() => submit('mine', copy))).toBe('VAA_NO_QUORUM')
  })
})

test('a plug-in is asked about messages that logs of their source show, which cost their sender a fee', async () => {
  const { asked, bridge } = setting()
  const source = bridge.sources[0] as SignedSource
  const published = await source.published({ fromBlock: 5, toBlock: 5 })
  expect(published.map(({ content }) => content?.kind)).toEqual(['transfer', 'none', 'none'])
  expect(asked).toEqual(['decode', 'parties', 'decode'])
  const transfers = published.flatMap(({ content }) => (content?.kind === 'transfer' ? [content.transfer] : []))
  expect(await source.delivered(transfers)).toEqual([false])
  expect(asked).toContain('delivered')
})
