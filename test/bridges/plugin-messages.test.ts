import { expect, describe, test } from 'vitest'
import { createBridges } from '../../bridges/registry.ts'
import { createPackageEndpoint, createRouteEndpoint, planOf } from '../../bridges/packages/endpoints.ts'
import { createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import type { Bridge } from '../../bridges/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { ofChain } from '../../domain/transfer/transfer.ts'
import { contract, coreChain, emitter, entry, names, options, routes, source, write } from './plugin-source.ts'
import { bytesOf, pluginSetting, read } from './plugin-setting.ts'

const { folder, loaded, made } = pluginSetting()

describe('A message of a plug-in', () => {
  const bridgeOf = async (parts: Record<string, string>, isLoaded = true) => {
    const plugins = { mine: entry(await write(folder, source(parts))) }
    const code = isLoaded ? await loaded(plugins) : undefined
    const bridge = createBridges(options(plugins), new Map([['bsc', coreChain('bsc') as never]]), ['bsc'], { loaded: code }).get('mine')
    if (!bridge) throw new Error('no bridge')
    return bridge
  }
  const accept = (bridge: Bridge, payload: string) => ofChain(bridge.endpoints, { chain: 'bsc' }).accept?.(bytesOf(payload))

  test('a message belongs to a plug-in if its decoder says so, and to nobody if not', async () => {
    const bridge = await bridgeOf({})
    expect(bridge.decode(bytesOf('0x0102'))).toMatchObject({ bridge: 'mine', sourceChain: 'ethereum', targetChain: 'bsc', sequence: '7' })
    await accept(bridge, '0x0102')
    expect(bridge.content(bytesOf('0x0102'))).toEqual({ recipient: contract, token: 'mine' })
    const isOfNobody = expect.objectContaining({ code: 'PAYLOAD_KIND' }) as Error
    await expect(accept(bridge, '0x0109')).rejects.toThrow(isOfNobody)
    await expect(accept(bridge, '0x0109')).rejects.toThrow('A route fits this message, but its bridge does not read it (`decode`).')
    await expect(accept(bridge, '0x02')).rejects.not.toThrow('A route fits')
    expect(() => bridge.decode(bytesOf('0x02'))).toThrow(isOfNobody)
  })

  test('a message is not lost if the decoder of its plug-in throws: the transfer starts, and waits', async () => {
    const bridge = await bridgeOf({ decode: `() => { throw new Error('bad') }` })
    expect(bridge.decode(bytesOf('0x0102'))).toMatchObject({ bridge: 'mine', targetChain: 'bsc' })
    expect(await accept(bridge, '0x0102')).toBeUndefined()
    expect(bridge.content(bytesOf('0x0102'))).toEqual({})
  })

  test('a message is known by its route in a process that does not run the plug-in, or refused it', async () => {
    for (const bridge of [await bridgeOf({}, false), await bridgeOf({ stages: '{}' })])
      expect(bridge.decode(bytesOf('0x0109'))).toMatchObject({ bridge: 'mine', targetChain: 'bsc' })
  })
})

describe('A process with a key', () => {
  const calls: string[] = []
  const endpointWith = (answer: string, failed?: RelayerError) =>
    createRouteEndpoint({
      ...{ name: 'mine', routes, chainNames: names, verify: async () => {}, failure: failed },
      chain: { name: 'bsc', call: async (to, data) => (calls.push(`${to} ${data}`), answer) },
    })

  test('a process with a key makes the call of a plan, and reads its effect, without the code of the plug-in', async () => {
    const plugin = await made({})
    const message = read(plugin)
    const plan = planOf(plugin, message)
    const transfer = { message: Buffer.from(message.bytes).toString('base64') } as never
    const planned = endpointWith(`0x${'1'.padStart(64, '0')}`).planned!(plan)
    const call = await planned.delivery(transfer).call()
    expect(call).toMatchObject({ to: contract, value: '0' })
    await expect(planned.proveCall(call)).resolves.toEqual(['ethereum'])
    expect(await planned.delivered(transfer, 'latest')).toBe(true)
    expect(calls.at(-1)).toContain(message.digest.slice(2))
    expect(await endpointWith(`0x${'0'.repeat(64)}`).planned!(plan).delivered(transfer, 'latest')).toBe(false)
  })

  test('with a key or without, a process sees the bytes of call and message for the deny-list', async () => {
    const plugin = await made({})
    const messages = createPluginMessages(plugin, names)
    const text = Buffer.from(bytesOf('0x0102')).toString('base64')
    const { chain, chainNames, verify } = { chain: { name: 'bsc', call: async () => '0x' }, chainNames: names, verify: async () => {} }
    const keyless = createPackageEndpoint(plugin, messages, { chain, chainNames, verify, clock: Date.now } as never)
    const planned = endpointWith('0x').planned!(keyless.plan!({ message: text } as never))
    const bytes = contract.slice(2) + Buffer.from(bytesOf('0x0102')).toString('hex')
    for (const one of [keyless, planned]) expect(one.delivery({ message: text } as never).parties.bytes).toBe(bytes)
  })

  test('a transfer whose plug-in makes no call waits as verified, so that a newer signed copy is kept', async () => {
    const plugin = await made({ stages: `{ deliver: { call: () => { throw new Error('oh') }, revertsOnceDone: true } }` })
    const message = Buffer.from(bytesOf('0x0102')).toString('base64')
    const options = { chain: { name: 'bsc' }, chainNames: names, verify: async () => {}, clock: Date.now } as never
    const endpoint = createPackageEndpoint(plugin, createPluginMessages(plugin, names), options)
    const { digest } = read(plugin)
    const verdict = await endpoint.validate({ message, digest, emitter, sourceId: '2', sequence: '7' } as never)
    expect(verdict).toMatchObject({ kind: 'wait', code: 'PLUGIN_FAILED' })
    expect(verdict).not.toHaveProperty('unverified')
  })

  test('a process with a key gets a plan that does not have the message', async () => {
    const plugin = await made({})
    const message = read(plugin, `0x01${'ab'.repeat(2_000)}`)
    const text = JSON.stringify(planOf(plugin, message))
    expect(text).not.toContain('abababab')
    expect(text.length).toBeLessThan(600)
  })

  test('a transfer of a refused plug-in waits with the reason', async () => {
    const failed = new RelayerError('PLUGIN_CHANGED', { detail: 'other bytes', facts: { plugin: 'mine' } })
    expect(await endpointWith('0x', failed).validate({} as never)).toMatchObject({ kind: 'wait', code: 'PLUGIN_CHANGED' })
  })
})
