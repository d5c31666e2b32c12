import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../bridges/kit/signed-messages.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import type { PortageOptions, PortageProcess } from '../../lab/devnet/portage-process.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { published } from '../../lab/devnet/wormhole/wormhole.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { BroadcastInput } from '../../temporal/contracts/transfer-steps.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const coreAbi = new Interface(['function publishMessage(uint32 nonce, bytes payload, uint8 consistencyLevel) payable returns (uint64)'])
const take = 'executeVAAv1(bytes)'
const takeFor = 'take(bytes,address,uint256,uint16)'

describe('Plug-in packages', () => {
  let stage: Stage
  let keyless: PortageProcess
  let options: Pick<PortageOptions, 'configure'>
  let loads: string
  let changed: { readonly module: string; readonly text: string }
  let receivers: readonly [string, string]

  /**
   * A plug-in that delivers payloads with the first byte `byte` in two calls. The second call has additional arguments
   * and carries coins.
   */
  const source = (name: string, byte: string, decode: string, more: string) => `import { appendFileSync } from 'node:fs'
import { plugin, z } from 'portage/plugin'
appendFileSync(${JSON.stringify(loads)}, process.pid + '\\n')
export default plugin({ name: '${name}', version: '1', kit: 1, settings: z.object({}), create: () => {
  const receivers = ${JSON.stringify(receivers)}
  const view = (digest, contract) => ({ contract, view: 'isReceived(bytes32)', args: [digest], returns: 'bool', is: [true] })
  const stage = (contract, value) => ({
    call: ({ bytes }) => value === undefined
      ? { contract, function: '${take}', args: [bytes] }
      : { contract, function: '${takeFor}', args: [bytes, contract, 9n, ${stage.devnet.chains.ethereum.wormholeChainId}], value },
    effect: ({ digest }) => [view(digest, contract)],
    revertsOnceDone: true,
  })
  return {
    routes: ${JSON.stringify(routes(byte))},
    decode: ${decode},
    stages: { first: stage(receivers[0]), second: stage(receivers[1], 7n) },
    async next({ digest }, { read }) {
      const [isThere] = await read(view(digest, receivers[0]))
      return { stage: isThere ? 'second' : 'first' }
    },
    delivered: ({ digest }) => receivers.map((contract) => view(digest, contract)),
    ${more}
  }
} })
`
  const routes = (byte: string) => [
    {
      from: [{ source: 'ethereum', emitter: toUniversal(stage.devnet.outsiders.ethereum.address) }],
      where: { '0': byte },
      to: 'bsc',
      calls: receivers.map((contract, index) => ({
        ...{ contract, function: take, proof: 'message' as const },
        ...(index === 1 && {
          function: takeFor,
          rest: [{ is: contract }, { atMost: '9' }, { is: '$emitterChain' as const }],
          coins: { atMost: '9', delivered: { view: 'isReceived(bytes32)', args: ['$digest' as const], is: 'true' } },
        }),
      })),
    },
  ]

  async function pinned(name: string, byte: string, { decode = '() => ({})', more = '' } = {}) {
    const module = join(stage.devnet.dir, `${name}.mjs`)
    const text = source(name, byte, decode, more)
    await writeFile(module, text)
    return { module, sha256: createHash('sha256').update(text).digest('hex'), settings: {}, routes: routes(byte), free: true as const }
  }

  beforeAll(async () => {
    stage = await startStage()
    const { ethereum, bsc } = stage.devnet.chains
    loads = join(stage.devnet.dir, 'loads')
    const compiled = await compiledArtifact('MessageReceiver')
    const script = await Script.of(bsc.anvil, stage.devnet.outsiders.bsc)
    const sender = `0x${toUniversal(stage.devnet.outsiders.ethereum.address)}`
    const receiver = () => script.deploy('MessageReceiver', [bsc.core, ethereum.wormholeChainId, sender], compiled)
    receivers = [receiver(), receiver()]
    await script.mine()
    const plugins = {
      throws: await pinned('throws', '02', { decode: `() => { throw new Error('no luck') }` }),
      hangs: await pinned('hangs', '04', { decode: `() => { for (;;) {} }` }),
      exits: await pinned('exits', '05', { decode: `() => process.exit(1)` }),
      changed: await pinned('changed', '03'),
      steps: await pinned('steps', '01', { more: `parties: () => ({ recipient: receivers[1], token: 'steps' }),` }),
      picky: await pinned('picky', '06', { more: `policy: () => ({ decline: 'not today' }),` }),
      poor: { ...(await pinned('poor', '07', { more: 'earned: () => 8n,' })), free: undefined },
    }
    changed = { module: plugins.changed.module, text: await readFile(plugins.changed.module, 'utf8') }
    await writeFile(changed.module, `${changed.text}// A change.\n`)
    options = { configure: (config) => ({ ...config, bridges: { ...config.bridges, plugins } }) }
    await stage.portage({ role: 'lane', name: 'lane', ...options })
    keyless = await stage.portage({ role: 'keyless', name: 'keyless', ...options })
  })

  afterAll(() => stage?.close())

  async function publish(bridge: string, payload: string): Promise<string> {
    const { anvil, core, wormholeChainId } = stage.devnet.chains.ethereum
    const script = await Script.of(anvil, stage.devnet.outsiders.ethereum)
    script.call(core, coreAbi, 'publishMessage', [0, payload, 1])
    const [message] = (await script.mine()).flatMap((one) => published(one, core, wormholeChainId))
    if (!message) throw new Error('nothing was published')
    const { bytes } = await stage.devnet.guardian.waitFor(wormholeChainId, message.emitter, message.sequence)
    await stage.submit(keyless, bytes)
    const { emitter, sequence } = message
    return transferId({ bridge, sourceId: String(wormholeChainId), emitter, sequence: String(sequence), digest: digestOf(parseVaa(bytes)) })
  }

  test('A plug-in that throws, hangs, exits or has changed stops only its own messages, with its name', async () => {
    const [failing, refused] = [await publish('throws', '0x0201'), await publish('changed', '0x0301')]
    const [hanging, exiting] = [await publish('hangs', '0x0401'), await publish('exits', '0x0501')]
    const payload = `0x01${'cd'.repeat(1_000)}`
    const delivered = await publish('steps', payload)
    const [token] = await stage.send('ethereum', [{ kind: 'coin', amount: 10n ** 18n }])
    expect(await stage.reaches(failing, 'waiting')).toMatchObject({
      code: 'PLUGIN_FAILED',
      reason: expect.stringContaining('throws: decode threw: no luck') as string,
    })
    expect(await stage.reaches(refused, 'waiting')).toMatchObject({
      code: 'PLUGIN_CHANGED',
      reason: expect.stringContaining('changed: Its SHA-256') as string,
    })
    for (const [id, name] of [
      [hanging, 'hangs'],
      [exiting, 'exits'],
    ] as const)
      expect(await stage.reaches(id, 'waiting')).toMatchObject({
        code: 'PLUGIN_FAILED',
        reason: expect.stringMatching(
          new RegExp(`${name}: (decode did not answer within 1000 ms|it rests until it is started again)`),
        ) as string,
      })
    await stage.reaches(token!.id, 'delivered')
    await stage.reaches(delivered, 'delivered')

    // The process with the keys gets a plan of each call, but no copy of the message.
    const inputs = await broadcastsOf(delivered)
    expect(inputs.map(({ stage: name, plan }) => [name, plan?.to, plan?.value])).toEqual([
      ['first', receivers[0], undefined],
      ['second', receivers[1], '7'],
    ])
    // The additional arguments of the second call are three words: the address, the number and the chain.
    expect(inputs.map(({ plan }) => plan?.rest?.length)).toEqual([undefined, 3 * 64])
    const balanceOf = (contract: string) => stage.devnet.chains.bsc.anvil.rpc<string>('eth_getBalance', [contract, 'latest'])
    expect([await balanceOf(receivers[0]), await balanceOf(receivers[1])].map(Number)).toEqual([0, 7])
    for (const { plan, transfer } of inputs) {
      expect(JSON.stringify(plan)).not.toContain('cdcdcdcd')
      expect(JSON.stringify(plan).length).toBeLessThan(transfer.message.length)
    }
    // The process that holds keys must import no plug-in.
    expect(new Set((await readFile(loads, 'utf8')).trim().split('\n'))).toEqual(new Set([String(keyless.pid)]))
  })

  test('A plug-in that has its file back delivers what waited', async () => {
    const waiting = await publish('changed', '0x0302')
    await stage.reaches(waiting, 'waiting')
    await stage.end(keyless)
    await writeFile(changed.module, changed.text)
    keyless = await stage.portage({ role: 'keyless', name: 'keyless-2', ...options })
    expect(await stage.reaches(waiting, 'delivered', 150_000)).toMatchObject({ state: 'delivered' })
  })

  test('A plug-in declines a message by its policy, and a message whose fee is worth too little waits', async () => {
    const [declined, poor] = [await publish('picky', '0x06'), await publish('poor', '0x07')]
    expect(await stage.reaches(declined, 'declined')).toMatchObject({ code: 'PLUGIN_DECLINED', reason: 'not today' })
    expect(await stage.reaches(poor, 'waiting')).toMatchObject({
      code: 'FEE_BELOW_COST',
      reason: expect.stringMatching(/^the fee is worth 8 wei, the delivery costs [0-9]+ wei now$/) as string,
    })
  })

  async function broadcastsOf(id: string): Promise<BroadcastInput[]> {
    const { events = [] } = await stage.client.workflow.getHandle(id).fetchHistory()
    return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
      const data = scheduled?.activityType?.name === 'broadcast' ? scheduled.input?.payloads?.[0]?.data : undefined
      return data ? [JSON.parse(Buffer.from(data).toString()) as BroadcastInput] : []
    })
  }
})
