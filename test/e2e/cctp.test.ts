import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { receiveIntent } from '../../bridges/cctp/calls.ts'
import { createIris } from '../../intake/submit/iris.ts'
import { type DevnetAccount, devnetAttesters } from '../../lab/devnet/chain/accounts.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { createSender } from '../../lab/devnet/chain/sender.ts'
import type { SentBurn, UserBurn } from '../../lab/devnet/cctp/cctp-users.ts'
import { cctpAbis, type CctpEnd } from '../../lab/devnet/cctp/cctp.ts'
import { startIris } from '../../lab/devnet/cctp/iris.ts'
import type { CctpNetwork } from '../../lab/devnet/cctp/network.ts'
import { burnTransferId } from '../../lab/devnet/sent.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import { placeOf } from '../../domain/stream/places.ts'
import { workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { streamViewQuery } from '../../temporal/contracts/stream.ts'
import { runCli } from '../cli/run-cli.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

/** Number of the target's blocks after which the attestation of a fast burn expires. */
const fastBlocks = 600
const [first, second, third] = devnetAttesters(3) as [DevnetAccount, DevnetAccount, DevnetAccount]

describe('Burns of CCTP, delivered by a Portage process', () => {
  let stage: Stage
  let cctp: CctpNetwork
  let portage: PortageProcess

  beforeAll(async () => {
    stage = await startStage({ auditMinutes: 0.1, cctp: { fastBlocks }, keysPerChain: 2 })
    cctp = stage.devnet.cctp!
    portage = await stage.portage()
  })

  afterAll(() => stage?.close())

  async function burn(fields: Partial<UserBurn> = {}): Promise<SentBurn> {
    const [sent] = await cctp.users.ethereum.burn([{ version: 2, amount: 5_000_000n, ...fields }])
    return sent!
  }

  const fast = { minFinality: 1_000, maxFee: 10_000n } as const
  const outcomes = (...sent: readonly SentBurn[]) => stage.outcomes(sent.map(burnTransferId), 120_000)
  const check = (...sent: readonly SentBurn[]) => stage.devnet.check(sent)

  async function waitsFor(sent: SentBurn, code: ErrorCode): Promise<string> {
    const look = async () => {
      const status = await stage.reaches(burnTransferId(sent), 'waiting')
      return status.code === code && status.reason
    }
    return until(look, { timeoutMs: 60_000, everyMs: 200, what: `${burnTransferId(sent)} to wait for ${code}` })
  }

  async function owner({ anvil, deployer, contracts }: CctpEnd, method: string, ...args: readonly unknown[]): Promise<void> {
    const script = await Script.of(anvil, deployer)
    script.call(contracts[2].transmitter, (await cctpAbis())[2].transmitter, method, args)
    await script.mine()
  }

  async function attestedElsewhere(sent: SentBurn) {
    const service = await startIris(Object.values(cctp.ends), { attesters: [first, second] })
    cleanUp(service.stop)
    const apis = createIris({ urls: [service.url] })
    const look = async () => {
      const found = await apis.ofTransaction({ domain: cctp.ends.ethereum.domain, txHash: sent.txHash }, async ([one]) => one)
      return found.kind === 'found' && found.value
    }
    return until(look, { timeoutMs: 60_000, everyMs: 200, what: 'an attestation' })
  }

  test('burns of both versions and speeds, both ways, are minted once, and the streams prove it', async () => {
    const burns = [{ version: 1 as const }, { version: 2 as const }, { version: 2 as const, ...fast, hookData: '0xbeef' }]
    const wanted = burns.map((one, index) => ({ amount: 1_000_000n + BigInt(index), ...one }))
    const sent = (await Promise.all([cctp.users.ethereum.burn(wanted), cctp.users.bsc.burn(wanted)])).flat()
    expect((await outcomes(...sent)).map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
    expect(await check(...sent)).toMatchObject({ delivered: 6, lost: 0, duplicates: 0, wrongBalances: 0, foreignCompletions: 0 })
    for (const { source, emitter, sequence } of sent) {
      const stream = workflowIdOf(stage.client, `cctp:${source}:${emitter}`)
      const view = () => stage.client.workflow.getHandle(stream).query(streamViewQuery)
      const proved = async () => BigInt((await view()).completedNumber ?? -1) >= sequence
      await until(proved, { timeoutMs: 120_000, everyMs: 200, what: `${stream} to be resolved up to ${sequence}` })
      expect(await view()).toMatchObject({ open: 0, gaps: {}, alarms: [] })
    }
    for (const one of sent) {
      const { status } = await stage.client.workflow.getHandle(burnTransferId(one)).describe()
      expect(status.name).toBe('COMPLETED')
    }
  })

  test('an attestation that expires while the target is paused is replaced, and the burn is minted', async () => {
    const { bsc } = cctp.ends
    await owner(bsc, 'pause')
    const sent = await burn(fast)
    expect(await waitsFor(sent, 'BRIDGE_PAUSED')).toBe('Pausable: paused')
    await bsc.anvil.rpc('anvil_mine', [`0x${fastBlocks.toString(16)}`])
    await owner(bsc, 'unpause')
    expect(await outcomes(sent)).toMatchObject([{ state: 'delivered', delivery: { ours: true } }])
    expect(cctp.iris.api.requests.filter((path) => path.includes('reattest')).length).toBeGreaterThan(0)
    expect(await check(sent)).toMatchObject({ delivered: 1, wrongBalances: 0 })
  })

  test('a message that someone else receives first is delivered, and costs nothing', async () => {
    const { bsc } = cctp.ends
    cctp.iris.treat(() => 'hold')
    const sent = await burn()
    await waitsFor(sent, 'CCTP_NOT_ATTESTED')
    const { to, data } = receiveIntent(bsc.contracts[2].transmitter, await attestedElsewhere(sent))
    await createSender(bsc.anvil, stage.devnet.outsiders.bsc, 500_000n)([{ to, data }])
    cctp.iris.treat(() => 'attest')
    expect(await outcomes(sent)).toMatchObject([{ state: 'delivered', delivery: { ours: false, by: stage.devnet.outsiders.bsc.address } }])
    expect(await check(sent)).toMatchObject({ delivered: 1, revertedTransactions: 0 })
  })

  test('signatures of unknown attesters are not sent, until the target contract enables them', async () => {
    const { bsc } = cctp.ends
    const rotated = [first, third].toSorted((a, b) => (a.address < b.address ? -1 : 1))
    cctp.iris.signWith(rotated)
    const sent = await burn()
    expect(await waitsFor(sent, 'CCTP_ATTESTATION')).toContain('has not enabled an attester')
    expect((await check(sent)).lost).toBe(1)
    await owner(bsc, 'enableAttester', third.address)
    expect(await outcomes(sent)).toMatchObject([{ state: 'delivered', delivery: { ours: true } }])
    await owner(bsc, 'disableAttester', third.address)
    cctp.iris.signWith([first, second])
  })

  test('only the lane that a burn names as its caller delivers it', async () => {
    const lanes = stage.devnet.lanes.filter(({ chain }) => chain === 'bsc')
    expect(lanes).toHaveLength(2)
    const sent = await Promise.all(lanes.map(({ address: caller }, index) => burn({ caller, amount: BigInt(7_000_000 + index) })))
    const ended = await outcomes(...sent)
    expect(ended.map(({ state, delivery }) => [state, delivery?.by])).toEqual(lanes.map(({ address }) => ['delivered', address]))
  })

  test('a burn for another relayer ends declined, and does not stop later burns', async () => {
    const { address: caller } = stage.devnet.outsiders.bsc
    const foreign = await Promise.all(([1, 2] as const).map((version) => burn({ version, caller, amount: 1n })))
    const later = await burn()
    const ended = await outcomes(...foreign, later)
    expect(ended.map(({ state, code }) => [state, code])).toEqual([
      ...foreign.map(() => ['declined', 'CCTP_CALLER']),
      ['delivered', undefined],
    ])
  })

  test('the doctor finds both versions on both chains, and reports a paused contract', async () => {
    const { bsc } = cctp.ends
    const doctor = async () => {
      const { json } = await runCli(['doctor', '--json', '--config', portage.configPath], { env: stage.devnet.env })
      const { checks } = json() as { checks: readonly { area: string; status: string; name: string; detail: string }[] }
      return checks.filter(({ area }) => area === 'bridge cctp')
    }
    const checks = await doctor()
    expect(checks.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
    expect(checks.at(-1)).toMatchObject({ name: 'v2 on bsc', detail: `${bsc.contracts[2].transmitter}, 2 of 2 attesters must sign` })
    await owner(bsc, 'pause')
    expect((await doctor()).filter(({ status }) => status !== 'ok')).toMatchObject([{ status: 'warn', name: 'v2 on bsc' }])
    await owner(bsc, 'unpause')
  })

  test('messages to other domains, and messages that are not burns, are skipped', async () => {
    const { ethereum } = cctp.ends
    const abis = await cctpAbis()
    const script = await Script.of(ethereum.anvil, ethereum.deployer)
    const word = (digit: string) => `0x${digit.repeat(64)}`
    const messages = [
      [99, word('1'), word('0'), 2_000, '0x'],
      [6, word('1'), word('0'), 2_000, '0xbeef'],
    ]
    for (const args of messages) script.call(ethereum.contracts[2].transmitter, abis[2].transmitter, 'sendMessage', args)
    const mined = await script.mine()
    await outcomes(await burn())
    const passed = mined.map(({ blockNumber, logs }) => placeOf(blockNumber, Number(logs[0]?.logIndex)))
    const ids: string[] = []
    for await (const { workflowId } of stage.client.workflow.list({ query: `WorkflowId STARTS_WITH "cctp:"` })) ids.push(workflowId)
    expect(ids.filter((id) => passed.some((place) => id.includes(`:${place}:`)))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  })
})
