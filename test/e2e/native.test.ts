import { id as keccakText } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { idOf, readMessage, writeMessage } from '../../bridges/native-bridge/message.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { nativeBridgeAbi } from '../../lab/devnet/native/native-bridge.ts'
import type { SentNativeTransfer } from '../../lab/devnet/native/native-users.ts'
import type { PortageOptions, PortageProcess } from '../../lab/devnet/portage-process.ts'
import { nativeTransferId } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { callHash } from '../../lanes/deps.ts'
import { laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { chainQueue, transferId } from '../../temporal/contracts/names.ts'
import { runCli } from '../cli/run-cli.ts'
import { type ChainKey, type Stage, startStage } from '../helpers/e2e.ts'
import { settingsReach } from '../helpers/e2e-settings.ts'
import { hostileClient } from '../helpers/e2e-hostile.ts'

const bridge = 'native-bridge'

interface Answer {
  readonly status: number
  readonly body: { readonly id?: string; readonly status?: string; readonly code?: string }
}

/** A network without Wormhole. No process has the role intake: the tests submit transfers by their numbers. */
describe('The native bridge both ways', { timeout: 300_000 }, () => {
  let stage: Stage
  let api: PortageProcess
  let fleet: readonly PortageProcess[]
  const sent: SentNativeTransfer[] = []

  const nativeOnly: PortageOptions['configure'] = (config) => ({
    ...config,
    chains: Object.fromEntries(
      Object.entries(config.chains).map(([name, { wormholeChainId: _, contracts: __, ...chain }]) => [name, chain]),
    ),
    bridges: { [bridge]: config.bridges[bridge] },
  })

  async function send(source: ChainKey, ...amounts: bigint[]): Promise<SentNativeTransfer[]> {
    const users = stage.devnet.native!.users[source]
    const transfers = await users.send(amounts.map((amount) => ({ amount })))
    sent.push(...transfers)
    return transfers
  }

  async function post(body: object, query = ''): Promise<Answer> {
    const response = await fetch(`${api.apiUrl}/v1/transfers${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...api.admin },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }

  const placeOf = ({ source, target, nonce }: SentNativeTransfer) => ({ bridge, source, target, nonce: String(nonce) })
  const idFor = nativeTransferId
  /** The submission is refused until the transfer is final, so it is repeated. */
  const submit = (transfer: SentNativeTransfer) =>
    until(
      async () => {
        const answer = await post(placeOf(transfer))
        if (answer.status === 503 && answer.body.code === 'NATIVE_NOT_FINAL') return false
        return answer
      },
      { timeoutMs: 90_000, everyMs: 200, what: `transfer ${transfer.nonce} of ${transfer.source} to be final` },
    )

  beforeAll(async () => {
    stage = await startStage({ native: 'fixed' })
    const start = (role: NonNullable<PortageOptions['role']>) => stage.portage({ role, name: role, configure: nativeOnly })
    const processes = await Promise.all([start('api'), start('ledger'), start('chain'), start('lane')])
    fleet = processes
    api = processes[0]
  })
  afterAll(() => stage?.close())

  test("transfers submitted by REST and the command line are delivered once with Portage's keys", async () => {
    const [there, back] = await Promise.all([send('ethereum', 5n, 6n, 7n), send('bsc', 8n, 9n)])
    const all = [...there, ...back]
    const answers = await Promise.all(all.slice(1).map(submit))
    expect(answers).toEqual(all.slice(1).map((one) => ({ status: 202, body: { id: idFor(one), status: 'started' } })))
    const { source, target, nonce } = all[0]!
    const { code, out } = await runCli(
      ['transfer', 'submit', '--native', `${source}:${target}:${nonce}`, '--api', api.apiUrl, '--config', api.configPath, '--json'],
      {
        env: process.env,
      },
    )
    expect([code, JSON.parse(out)]).toEqual([0, { id: idFor(all[0]!), status: 'started' }])
    for (const outcome of await stage.outcomes(all.map(idFor)))
      expect(outcome).toMatchObject({ state: 'delivered', delivery: { ours: true } })
    expect(await post(placeOf(all[0]!))).toEqual({ status: 200, body: { id: idFor(all[0]!), status: 'known' } })
    const { delivered, lost, duplicates, wrongBalances, foreignCompletions, nonceHoles, wastedTransactions } =
      await stage.devnet.check(sent)
    expect({ delivered, lost, duplicates, wrongBalances, foreignCompletions, nonceHoles, wastedTransactions }).toEqual({
      ...{ delivered: all.length, lost: 0, duplicates: 0, wrongBalances: 0, foreignCompletions: 0 },
      ...{ nonceHoles: 0, wastedTransactions: 0 },
    })
  })

  test('a native transfer shows its state of MIP-61', async () => {
    const [one] = (await send('ethereum', 10n)) as [SentNativeTransfer]
    const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!
    const show = async () =>
      (await fetch(`${api.apiUrl}/v1/transfers/${encodeURIComponent(idFor(one))}`, { headers: api.admin })).json() as Promise<object>
    const halt = (...args: string[]) =>
      runCli([...args, '--bridge', bridge, '--config', api.configPath], { env: { ...process.env, ...stage.devnet.env } })
    expect(await halt('halt', '--reason', 'a test')).toMatchObject({ code: 0 })
    await settingsReach(stage, ...fleet)
    await submit(one)
    await stage.reaches(idFor(one), 'waiting')
    expect(await show()).toMatchObject({ state: 'waiting', mip61: 'transfer_initiated' })
    expect(await halt('unhalt', '--reason', 'a test')).toMatchObject({ code: 0 })
    await stage.outcomes([idFor(one)])
    expect(await show()).toMatchObject({ state: 'delivered', mip61: 'transfer_completed', delivery: { by: lane.address.toLowerCase() } })
    const list = (await (await fetch(`${api.apiUrl}/v1/transfers?state=delivered`, { headers: api.admin })).json()) as {
      transfers: { mip61?: string }[]
    }
    expect(new Set(list.transfers.map(({ mip61 }) => mip61))).toEqual(new Set(['transfer_completed']))
    const people = await runCli(['transfer', 'show', idFor(one), '--config', api.configPath], {
      env: { ...process.env, ...stage.devnet.env },
    })
    expect(people.out).toContain('transfer_completed')
  })

  test('an attacker at Temporal gets nothing signed without a record at the source', async () => {
    const attack = await hostileClient(stage)
    const honest = send('ethereum', 20n, 21n, 22n)
    const lane = () => attack.ledger.query(laneStatusQuery)
    const forged = attack.completion({ nonce: 1n })

    const refused = { state: 'refused', detail: expect.stringContaining('No message of a bridge proves this call') }
    expect(await attack.operatorTransaction(forged.intent)).toMatchObject(refused)
    expect(await attack.operatorTransaction(attack.batchOf(forged, attack.completion({ nonce: 2n })))).toMatchObject(refused)

    // The attacker calls steps through the lane's queue, and later also a step with a nonce that the ledger granted.
    const unjustified = { failure: { code: 'CALL_UNJUSTIFIED', nonRetryable: true } }
    expect(await attack.step('sendOperatorTransaction', { intent: forged.intent, lookUpOnly: false, cancel: false })).toMatchObject(
      unjustified,
    )
    expect(await attack.step('broadcast', attack.broadcastOf(forged))).toMatchObject(unjustified)
    // A process without the lane's key serves the chain's queue.
    expect(await attack.localStep('broadcastLocally', attack.broadcastOf(forged))).toMatchObject({ result: { kind: 'elsewhere' } })
    const granted = { intentId: 'batch:forged/1', callHash: callHash(forged.intent) }
    const [grant] = await attack.order({
      kind: 'grant',
      owner: granted,
      attempt: attack.attempt({ maxFee: '3000000000', tip: '1000000000' }),
    })
    expect(grant).toMatchObject({ kind: 'granted' })
    // The step first observes earlier transactions, and finds only the lane's no-op, which may be pending.
    const followed = await attack.step('broadcastBatch', { intent: forged.intent, intentId: granted.intentId })
    expect([{ kind: 'spent', by: 'noop' }, { kind: 'pending' }]).toContainEqual(
      (({ kind, by }) => ({ kind, ...(by && { by }) }))(followed.result as { kind: string; by?: string }),
    )

    const ruinous = attack.attempt({ kind: 'noop', gasLimit: '4000000', maxFee: String(10n ** 14n), tip: String(10n ** 14n) })
    const nonce = await attack.forgeLane(ruinous)
    await attack.order({ kind: 'replace', nonce, maxFee: String(10n ** 18n), tip: String(10n ** 18n) })
    await attack.order({ kind: 'attempt', nonce, index: 1, attempt: { ...ruinous, gasLimit: '16000000' } })

    const more = [...(await honest), ...(await send('ethereum', 23n, 24n))]
    await Promise.all(more.map(submit))
    for (const outcome of await stage.outcomes(more.map(idFor)))
      expect(outcome).toMatchObject({ state: 'delivered', delivery: { ours: true } })
    await until(async () => ((await lane()).observed?.latest ?? 0) > nonce, { timeoutMs: 90_000, what: 'the forged nonce to be used' })
    expect(await attack.spendAtMost()).toEqual([])
    expect(await attack.stolen()).toBe(0n)
    const { delivered, lost, duplicates, foreignCompletions, nonceHoles } = await stage.devnet.check(sent)
    expect({ delivered, lost, duplicates, foreignCompletions, nonceHoles }).toEqual({
      ...{ delivered: sent.length, lost: 0, duplicates: 0, foreignCompletions: 0, nonceHoles: 0 },
    })
  })

  test('the native bridge refuses transfers that the source never recorded, in the API and in a workflow', async () => {
    const [one] = (await send('bsc', 11n)) as [SentNativeTransfer]
    await submit(one)
    const { transfer } = (await stage.outcomes([idFor(one)]))[0]!
    const good = readMessage(await messageOf(idFor(one)))
    const raised = { ...good, amount: good.amount + 1n }
    const forged = { ...raised, id: idOf(raised) }
    const message = Buffer.from(writeMessage(forged)).toString('base64')
    expect(await post({ vaa: message }, `?bridge=${bridge}`)).toMatchObject({
      status: 422,
      body: { code: 'NATIVE_TABLE_MISMATCH' },
    })
    expect(await post({ ...placeOf(one), nonce: '99' })).toMatchObject({ status: 503, body: { code: 'NATIVE_NOT_FINAL' } })
    expect(await post({ ...placeOf(one), target: 'bsc' })).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } })
    const smuggled: Transfer = { ...transfer, digest: forged.id, message }
    const handle = await stage.client.workflow.start('transfer', {
      workflowId: transferId(smuggled),
      taskQueue: chainQueue(smuggled.targetChain),
      args: [{ transfer: smuggled }],
    })
    expect(await stage.reaches(handle.workflowId, 'rejected')).toMatchObject({ code: 'NATIVE_TABLE_MISMATCH' })
    // Only a stream may halt a route, because an attacker chooses the contents of a transfer.
    const settings = (await (await fetch(`${api.apiUrl}/v1/settings`, { headers: api.admin })).json()) as { halts: object[] }
    expect(settings.halts).toEqual([])
    const { transfers, delivered, foreignCompletions } = await stage.devnet.check(sent)
    expect({ delivered, foreignCompletions }).toEqual({ delivered: transfers, foreignCompletions: 0 })
  })

  test('the doctor shows contracts, budget and roles of the native bridge', async () => {
    const doctor = async () => {
      const answer = await runCli(['doctor', '--json', '--config', api.configPath], { env: { ...process.env, ...stage.devnet.env } })
      const { checks } = JSON.parse(answer.out) as { checks: { area: string; name: string; status: string; detail: string }[] }
      return checks
    }
    const checks = await doctor()
    expect(checks.filter(({ area, status }) => area.startsWith('route ') && status !== 'ok')).toEqual([])
    expect(checks.some(({ name }) => name.includes('token bridge'))).toBe(false)
    const fromEthereum = sent.filter(({ source }) => source === 'ethereum').length
    const [there] = checks.filter(({ area, name }) => area === 'route ethereum → bsc' && name === 'source contract')
    expect(there).toMatchObject({ status: 'ok', detail: expect.stringContaining(`, ${fromEthereum} transfers so far`) })
    expect(checks.filter(({ area }) => area.startsWith('route ')).map(({ name }) => name.replace(/0x.*/, 'lane'))).toEqual([
      'source contract',
      'target contract',
      'role of lane',
      'source contract',
      'target contract',
      'role of lane',
    ])
    const { anvil, bridge: contract, deployer } = stage.devnet.native!.ends.bsc
    const lane = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address
    const admin = await Script.of(anvil, deployer)
    admin.call(contract, await nativeBridgeAbi(), 'togglePause', [])
    admin.call(contract, await nativeBridgeAbi(), 'revokeRole', [keccakText('RELAYER_ROLE'), lane])
    await admin.mine()
    const troubles = (await doctor()).filter(({ area, status }) => area.startsWith('route ') && status !== 'ok')
    expect(troubles).toMatchObject([
      { area: 'route ethereum → bsc', name: 'target contract', status: 'warn', detail: expect.stringContaining('paused') },
      {
        area: 'route ethereum → bsc',
        name: `role of ${lane.toLowerCase()}`,
        status: 'fail',
        detail: expect.stringContaining('RELAYER_ROLE'),
      },
    ])
  })

  async function messageOf(id: string): Promise<Uint8Array> {
    const { events } = await stage.client.workflow.getHandle(id).fetchHistory()
    const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data
    if (!payload) throw new Error(`${id} has no input`)
    const input = JSON.parse(Buffer.from(payload).toString()) as { transfer: Transfer }
    return Buffer.from(input.transfer.message, 'base64')
  }
})
