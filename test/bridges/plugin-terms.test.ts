import { afterAll, describe, expect, test } from 'vitest'
import { createPluginDecode, createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import { createPackageEndpoint, createRouteEndpoint, planOf } from '../../bridges/packages/endpoints.ts'
import { type ConfiguredPlugin, createPlugin, loadPlugins, readPlugin } from '../../bridges/packages/load.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { noLogs } from '../helpers/unused.ts'
import { signVaa } from '../helpers/vaa.ts'
import { context, contract, emitter, entry, names, settings, source, write } from './plugin-source.ts'

const folder = temporaryFolder()
const ends: (() => void)[] = []
afterAll(() => ends.forEach((end) => end()))

const delivered = `{ view: 'isDone(bytes32)', args: ['$digest'], is: 'true' }`
const paying = (coins: string) =>
  source()
    .match(/\[\{ from.*\]/)![0]
    .replace(`proof: 'message'`, `proof: 'message', coins: ${coins}`)
const call = (value: string) => ({
  routes: paying(`{ atMost: '7', delivered: ${delivered} }`),
  stages: `{ deliver: { call: ({ bytes }) => ({ contract, function: 'take(bytes)', args: [bytes], value: ${value} }), revertsOnceDone: true } }`,
})

async function made(parts: Readonly<Record<string, string>>) {
  const file = await readPlugin((await write(folder, source(parts))).module)
  ends.push(() => file.thread.close())
  return createPlugin(file, settings, context)
}

/** An endpoint of the plug-in, and a transfer for it. */
async function setting(parts: Readonly<Record<string, string>>) {
  const { plugin, routes } = await made(parts)
  const messages = createPluginMessages(plugin, names)
  const chain = { name: 'bsc', call: async () => `0x${'0'.repeat(64)}`, ...noLogs }
  const verify = async () => {}
  const endpoint = createPackageEndpoint(plugin, messages, { chain, chainNames: names, verify, clock: Date.now })
  const { bytes } = signVaa({ emitterChain: 2, emitter, sequence: 7n, payload: '0x0102' }, { guardians: 1 })
  const transfer = createPluginDecode(plugin, messages)(bytes)
  const planned = () =>
    createRouteEndpoint({ name: 'mine', routes, chain, chainNames: names, verify }).planned!(endpoint.plan!(transfer))
      .delivery(transfer)
      .call()
  return { plugin, message: messages.readBytes(bytes).message, endpoint, transfer, planned }
}
const failure = (text: string) =>
  expect.objectContaining({ code: 'PLUGIN_FAILED', message: expect.stringContaining(`mine: ${text}`) as string }) as Error

describe('Coins of the call of a plug-in', () => {
  test.each([
    ['a bigint', '7n', '7'],
    ['digits', `'5'`, '5'],
    ['nothing', '0n', '0'],
    ['none', 'undefined', '0'],
  ])('a call carries the coins that its plug-in names, also in a process with a key: %s', async (_, value, wei) => {
    const { endpoint, transfer, planned } = await setting(call(value))
    const intent = await endpoint.delivery(transfer).call()
    expect(intent.value).toBe(wei)
    expect(await planned()).toEqual(intent)
    // Admission reads the coins from `intent`, so it chooses no lane that lacks them.
    expect(endpoint.delivery(transfer).intent).toEqual(intent)
    expect(endpoint.paidCalls).toEqual({ [contract]: { [intent.data.slice(0, 10)]: '7' } })
    await expect(endpoint.proveCall(intent)).resolves.toEqual([
      wei === '0' ? 'ethereum' : { sourceChain: 'ethereum', payment: transfer.digest },
    ])
  })

  test.each([
    ['more than its rule has', '8n', 'a value of more than the 7 wei of its rule'],
    ['a number', '7', 'a value that is no number of wei'],
    ['a negative number', '-1n', 'a value that is no number of wei'],
    ['a word', `'0x07'`, 'a value that is no number of wei'],
    ['null', 'null', 'a value that is no number of wei'],
  ])('a value is refused with the name of the plug-in: %s', async (_, value, problem) => {
    const { plugin, message } = await setting(call(value))
    expect(() => planOf(plugin, message)).toThrow(failure(`stages.deliver.call returned ${problem}`))
  })

  test('a value is refused if its rule has no coins', async () => {
    const { plugin, message } = await setting({ stages: call('1n').stages })
    expect(() => planOf(plugin, message)).toThrow(failure('stages.deliver.call returned a value, and its rule has no coins'))
  })

  test('if two routes have the same call, the call may carry the coins of the second route', async () => {
    const [first, second] = [paying(`{ atMost: '1', delivered: ${delivered} }`), paying(`{ atMost: '7', delivered: ${delivered} }`)]
    const both = `${first.slice(0, -1)}, ${second.slice(1).replace(`0: '01'`, `0: '02'`)}`
    const { plugin, message } = await setting({ ...call('7n'), routes: both })
    expect(planOf(plugin, message)).toMatchObject({ value: '7' })
  })

  test.each([
    ['without the view that shows the call', `{ atMost: '7' }`, 'delivered'],
    ['with a view that does not name the message', `{ atMost: '7', delivered: { view: 'count()', args: [] } }`, 'delivered'],
    ['of nothing', `{ atMost: '0', delivered: ${delivered} }`, 'atMost'],
    ['of no amount', `{ atMost: 'all', delivered: ${delivered} }`, 'atMost'],
  ])('a plug-in is refused if its rule has coins %s', async (_, coins, field) => {
    await expect(made({ routes: paying(coins) })).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
      message: expect.stringContaining(`routes.0.calls.0.coins.${field}`) as string,
    })
  })

  test('a plug-in is refused if a call without a message may carry coins', async () => {
    const proof = `{ view: 'has(uint256)', returns: 'bool', isNot: [false] }, coins: { atMost: '1', delivered: ${delivered} }`
    const routes = source()
      .match(/\[\{ from.*\]/)![0]
      .replace(/'take.*'message'/, `'go(uint256)', proof: ${proof}`)
    await expect(made({ routes })).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
      message: expect.stringContaining('may have coins only if a message proves it') as string,
    })
  })
})

describe('The policy of a plug-in', () => {
  const validate = async (policy: string) => {
    const { endpoint, transfer } = await setting({ policy })
    return endpoint.validate(transfer)
  }

  test.each([
    [`() => ({ accept: true })`, { kind: 'valid' }],
    [
      `({ content }) => ({ wait: 'it has ' + content.size + ' bytes' })`,
      { kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: 'it has 2 bytes' },
    ],
    [`({ sequence }) => ({ decline: 'no ' + sequence })`, { kind: 'declined', code: 'PLUGIN_DECLINED', reason: 'no 7' }],
  ])('a policy accepts a message, declines it or makes it wait: %s', async (policy, verdict) => {
    expect(await validate(policy)).toEqual(verdict)
  })

  test.each([
    [`() => {}`, 'policy threw'],
    [`() => true`, 'policy returned none of accept: true, wait and decline'],
    [`() => ({})`, 'policy returned none of'],
    [`() => ({ accept: false })`, 'policy returned none of'],
    [`() => ({ accept: true, decline: 'no' })`, 'policy returned none of'],
    [`() => ({ wait: 'a', decline: 'b' })`, 'policy returned none of'],
    [`() => ({ wait: 5 })`, 'policy returned none of'],
    [`() => ({ decline: 'a'.repeat(501) })`, 'policy returned none of'],
    [`async () => ({ accept: true })`, 'policy returned a promise'],
    [`() => { throw new Error('oh') }`, 'policy threw: oh'],
  ])('a message waits, with the name of the plug-in, if its policy is %s', async (policy, problem) => {
    const verdict = await validate(policy)
    expect(verdict).toMatchObject({ kind: 'wait', code: 'PLUGIN_FAILED', reason: expect.stringContaining(`mine: ${problem}`) as string })
    // The verdict must not be `unverified`, because the signatures are valid: a copy with newer signatures then
    // replaces the message.
    expect(verdict).not.toHaveProperty('unverified')
  })

  test('a policy is asked again each time, so that a message need not wait for ever', async () => {
    const { endpoint, transfer } = await setting({
      policy: `(() => { let count = 0; return () => (++count < 3 ? { wait: 'turn ' + count } : { accept: true }) })()`,
    })
    const answers = []
    for (let count = 0; count < 3; count++) answers.push((await endpoint.validate(transfer)).kind)
    expect(answers).toContain('wait')
    expect(answers.at(-1)).toBe('valid')
  })
})

describe('The fee of a message', () => {
  const earnedBy = async (parts: Readonly<Record<string, string>>) => {
    const { endpoint, transfer } = await setting(parts)
    return endpoint.delivery(transfer).earned?.()
  }

  test('a fee is worth what the plug-in says, less the coins of the call', async () => {
    expect(await earnedBy({})).toBeUndefined()
    expect(await earnedBy({ earned: `({ content }) => 10n * BigInt(content.size)` })).toBe(20n)
    expect(await earnedBy({ ...call('7n'), earned: `() => 20n` })).toBe(13n)
    expect(await earnedBy({ ...call('7n'), earned: `() => 0n` })).toBe(-7n)
  })

  test.each([
    ['a number', '20', 'earned returned no number of wei (a bigint)'],
    ['nothing', 'undefined', 'earned returned no number of wei (a bigint)'],
    ['less than nothing', '-1n', 'earned returned no number of wei (a bigint)'],
    ['more than there is', '2n ** 256n', 'earned returned no number of wei (a bigint)'],
    ['no answer', `(() => { throw new Error('oh') })()`, 'earned threw: oh'],
  ])('a worth is refused with the name of the plug-in: %s', async (_, answer, problem) => {
    await expect(earnedBy({ earned: `() => ${answer}` })).rejects.toThrow(failure(problem))
  })

  const load = async (parts: Readonly<Record<string, string>>, fields: Partial<ConfiguredPlugin>) => {
    const closing = new AbortController()
    ends.push(() => closing.abort())
    const file = await write(folder, source(parts))
    return (await loadPlugins({ mine: entry(file, fields) }, context, { closing: closing.signal })).get('mine')
  }

  test('a plug-in that names no worth of its fees needs free: true, which also ends the comparison', async () => {
    expect(await load({}, { free: undefined })).toMatchObject({
      code: 'PLUGIN_INVALID',
      message: expect.stringContaining('Set bridges.plugins.mine.free to true.') as string,
    })
    expect(await load({}, {})).toMatchObject({ name: 'mine' })
    expect(await load({ earned: '() => 1n' }, { free: undefined })).toMatchObject({ earned: expect.any(Function) as () => bigint })
    expect(await load({ earned: '() => 1n' }, {})).not.toHaveProperty('earned')
  })

  test.each(['policy', 'earned', 'parties', 'next'])('a plug-in is refused if its %s is no function', async (part) => {
    expect(await load({ [part]: `'all'` }, {})).toMatchObject({
      code: 'PLUGIN_INVALID',
      message: expect.stringContaining(`${part} is no function`) as string,
    })
  })
})

test('a plug-in without parties has the contract of its route as recipient, and its emitter as token', async () => {
  const { plugin, message, endpoint, transfer } = await setting({ parties: 'undefined' })
  expect(plugin.parties(message)).toEqual({ recipient: contract, token: `2/${emitter}` })
  expect(endpoint.delivery(transfer).parties).toMatchObject({ recipient: contract, token: `2/${emitter}` })
  expect(planOf(plugin, message)).toMatchObject({ recipient: contract, token: `2/${emitter}` })
})
