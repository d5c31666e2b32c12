import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { id as keccakText } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { nativeBridgeAbi } from '../../lab/devnet/native/native-bridge.ts'
import type { SentNativeTransfer } from '../../lab/devnet/native/native-users.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { nativeTransferId } from '../../lab/devnet/sent.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import { until } from '../../lab/devnet/until.ts'
import type { LaneState } from '../../domain/lane/lane.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { runCli } from '../cli/run-cli.ts'
import { timedSteps } from '../../observability/step-times.ts'
import { type Stage, ledgerId, startStage } from '../helpers/e2e.ts'

/** The daily cap, a quarter of the insurance fund, in wei. The amounts of a day must stay below the cap. */
const cap = 10n ** 17n / 4n
const relayerRole = keccakText('RELAYER_ROLE')
const daySeconds = 86_400
/** Maximum number of `eth_call`s per block. All reads of a block share one call, and a late read needs another. */
const mostCallsPerBlock = 2.5
/**
 * Minimum number of `eth_call`s per block. Fewer calls would mean that the process does not read the gate at even half
 * of the blocks.
 */
const leastCallsPerBlock = 0.5
const blocksCounted = 8

/** While the bridge is closed, transfers neither poll nor revert. They continue without an operator. */
describe('Transfers that a native bridge does not let in now', { timeout: 400_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  const sent: SentNativeTransfer[] = []
  const end = () => stage.devnet.native!.ends.bsc
  const anvil = () => stage.devnet.chains.bsc.anvil

  const send = async (...amounts: bigint[]) => {
    const transfers = await stage.devnet.native!.users.ethereum.send(amounts.map((amount) => ({ amount })))
    sent.push(...transfers)
    return transfers
  }
  const ids = (transfers: readonly SentNativeTransfer[]) => transfers.map(nativeTransferId)
  const outcomes = (transfers: readonly SentNativeTransfer[], timeoutMs = 120_000) => stage.outcomes(ids(transfers), timeoutMs)
  const wait = async (transfers: readonly SentNativeTransfer[], code: string): Promise<TransferStatus[]> =>
    Promise.all(
      ids(transfers).map((id) =>
        until(
          async () => {
            const status = await stage.status(id).catch(() => undefined)
            return status?.state === 'waiting' && status.code === code && status
          },
          { timeoutMs: 90_000, everyMs: 300, what: `${id} to wait: ${code}` },
        ),
      ),
    )
  const admin = async (method: string, args: readonly unknown[], contract: 'FixedNativeBridge' | 'BridgeToken' = 'FixedNativeBridge') => {
    const script = await Script.of(anvil(), end().deployer)
    const abi = contract === 'BridgeToken' ? (await compiledArtifact(contract)).abi : await nativeBridgeAbi('fixed')
    script.call(contract === 'BridgeToken' ? end().token : end().bridge, abi, method, args)
    await script.mine()
  }
  const nextDay = async () => {
    const { timestamp } = await anvil().rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
    await anvil().rpc('evm_setNextBlockTimestamp', [(Math.floor(Number(timestamp) / daySeconds) + 1) * daySeconds])
    await anvil().rpc('evm_mine')
  }
  const metrics = async () => (await fetch(`${portage.apiUrl}/metrics`)).text()
  const gauge = async (line: string) =>
    Number(new RegExp(`^${line.replaceAll(/[{}|]/g, '\\$&')} (\\d+)$`, 'm').exec(await metrics())?.[1] ?? 0)
  const waiting = (code: string) => gauge(`portage_gate_waiting{route="native-bridge:ethereum:bsc",code="${code}"}`)
  const untilWaiting = (code: string, count: number) =>
    until(async () => (await waiting(code)) === count, { timeoutMs: 60_000, everyMs: 100, what: `${count} to be counted: ${code}` })
  /** The process reads the gate once per block. Waits until it has read the gate at the latest block. */
  const untilSeen = async () => {
    const height = Number(await anvil().rpc<string>('eth_blockNumber'))
    await until(async () => (await gauge('portage_head_height{chain="bsc"}')) >= height, {
      timeoutMs: 60_000,
      everyMs: 50,
      what: `block ${height} to be seen`,
    })
  }
  const lane = (index: number) => stage.client.workflow.getHandle(ledgerId(stage.devnet, 'bsc', index)).query<LaneState>('status')
  const keys = () => stage.devnet.lanes.filter(({ chain }) => chain === 'bsc').map(({ address }) => address.toLowerCase())

  /** Counts the `eth_call`s after a new block, once all reads of this block are over. */
  const countAtEdge = async () => {
    const height = () => gauge('portage_head_height{chain="bsc"}')
    const calls = () => gauge('portage_rpc_calls_total{chain="bsc",method="eth_call",node="node-1"}')
    const waitLimit = { timeoutMs: 30_000, everyMs: 50 }
    const before = await height()
    const edge = await until(async () => ((await height()) > before ? height() : undefined), { ...waitLimit, what: 'a new block' })
    let known = await calls()
    // Two equal counts show that the reads of the block are over.
    const quiet = async () => {
      const now = await calls()
      const same = now === known
      known = now
      return same
    }
    await until(quiet, { ...waitLimit, everyMs: 150, what: 'the reads of a block' })
    return { calls: known, height: edge }
  }
  const callsOfWindow = async () => {
    const before = await countAtEdge()
    const over = async () => (await gauge('portage_head_height{chain="bsc"}')) >= before.height + blocksCounted
    await until(over, { timeoutMs: 60_000, everyMs: 50, what: 'some blocks' })
    const after = await countAtEdge()
    return (after.calls - before.calls) / (after.height - before.height)
  }
  /**
   * Measures `eth_call`s per block. A busy machine skips polls, so a window outside the limits is measured again.
   * Polling transfers would exceed the limit in every window.
   */
  const callsPerBlock = (waiters: number) =>
    until(
      async () => {
        const calls = await callsOfWindow()
        console.info(`eth_calls per block with ${waiters} waiting: ${calls.toFixed(2)}`)
        return calls >= leastCallsPerBlock && calls <= mostCallsPerBlock && calls
      },
      { timeoutMs: 150_000, everyMs: 0, what: `at most ${mostCallsPerBlock} eth_calls per block with ${waiters} waiting` },
    )
  const expectSound = async () => {
    const { lost, duplicates, wrongBalances, foreignCompletions, nonceHoles, wastedTransactions } = await stage.devnet.check(sent)
    const nothing = { lost: 0, duplicates: 0, wrongBalances: 0, foreignCompletions: 0, nonceHoles: 0, wastedTransactions: 0 }
    expect({ lost, duplicates, wrongBalances, foreignCompletions, nonceHoles, wastedTransactions }).toEqual(nothing)
  }

  beforeAll(async () => {
    // An audit would read the open numbers and disturb the count of reads.
    stage = await startStage({ native: 'fixed', wormhole: false, keysPerChain: 2, auditMinutes: 120 })
    // The tests must finish within one day of the chain's clock.
    await nextDay()
    portage = await stage.portage()
  })
  afterAll(() => stage?.close())

  const held: SentNativeTransfer[] = []

  test('every counter with an alert on its growth exists before it counts: a first 1 is no growth', async () => {
    const rules = await readFile(fileURLToPath(new URL('../../deploy/prometheus/alerts.yml', import.meta.url)), 'utf8')
    const counters = [...new Set([...rules.matchAll(/increase\((\w+_total)\[/g)].map(([, name = '']) => name))]
    expect(counters.length).toBeGreaterThan(3)
    const missing = async () => {
      const text = await metrics()
      return counters.filter((name) => !new RegExp(`^${name}\\{.*\\} 0$`, 'm').test(text))
    }
    await until(async () => (await missing()).length === 0, { timeoutMs: 60_000, what: `0 of each of ${counters.join(', ')}` })
    expect(await missing()).toEqual([])
  })

  test('a spent budget: a transfer that does not fit waits, at one gate that is read once per block', async () => {
    const [most] = await send(cap - 1_000n)
    await outcomes([most!])
    const ten = await send(300n, 300n, 300n, ...Array.from({ length: 10 }, () => 2_000n))
    // The used amount must stay below 1,000, so only three of the ten amounts fit into the remaining 900.
    expect(await outcomes(ten.slice(0, 3))).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }, { state: 'delivered' }])
    const few = ten.slice(3)
    held.push(...few)
    for (const { reason, nonce } of await wait(few, 'BRIDGE_BUDGET')) {
      expect(reason).toMatch(/does not fit below; the budget renews at \d{4}-\d\d-\d\dT00:00:00Z$/)
      expect(nonce).toBeUndefined()
    }
    await callsPerBlock(10)
    const many = await send(...Array.from({ length: 90 }, () => 2_000n))
    held.push(...many)
    await wait(many, 'BRIDGE_BUDGET')
    await untilWaiting('BRIDGE_BUDGET', 100)
    // If each of the 90 waiting transfers polled every ten seconds, each block would cost 4 calls more.
    await callsPerBlock(100)
  })

  test('at midnight all that waited are delivered, also by a process that did not know them', async () => {
    expect(held).toHaveLength(100)
    await stage.end(portage)
    portage = await stage.portage()
    await untilWaiting('BRIDGE_BUDGET', 100)
    const began = Date.now()
    await nextDay()
    for (const { state, rounds } of await outcomes(held)) expect([state, rounds]).toEqual(['delivered', 1])
    console.info(`100 that waited for midnight were delivered within ${Math.round((Date.now() - began) / 1_000)} s`)
    await untilWaiting('BRIDGE_BUDGET', 0)
    await expectSound()
  })

  test('of many simultaneous transfers, only those that fit the budget together go on', async () => {
    await nextDay()
    const tenth = cap / 10n
    const many = await send(...Array.from({ length: 14 }, () => tenth))
    const state = async () => (await Promise.all(ids(many).map((id) => stage.status(id).catch(() => undefined)))).map((one) => one?.state)
    // Nine transfers of a tenth of the cap stay below the cap. An amount may count twice while a block is read, which
    // delays one transfer.
    const settled = async () => {
      const states = await state()
      const count = (wanted: string) => states.filter((one) => one === wanted).length
      return count('delivered') === 9 && count('waiting') === 5
    }
    await until(settled, { timeoutMs: 120_000, everyMs: 300, what: 'nine to be delivered, and five to wait' })
    await untilWaiting('BRIDGE_BUDGET', 5)
    await nextDay()
    await outcomes(many)
    await expectSound()
    const text = await metrics()
    const labels = 'chain="bsc",bridge="native-bridge"'
    for (const step of timedSteps)
      expect(text).toMatch(new RegExp(`^portage_transfer_step_seconds_count\\{${labels},step="${step}"\\} [1-9]`, 'm'))
    expect(text).toMatch(new RegExp(`^portage_transfer_seconds_count\\{${labels}\\} [1-9]`, 'm'))
  })

  test('a transfer above the daily cap is parked with the reason; once the cap is raised, a retry delivers', async () => {
    await nextDay()
    const [big] = await send(cap)
    expect(await stage.reaches(nativeTransferId(big!), 'parked', 60_000)).toMatchObject({
      code: 'BRIDGE_CAP',
      reason: `the amount ${cap} is not below the daily cap ${cap}`,
    })
    await admin('mint', [end().insuranceFund, 4n * cap], 'BridgeToken')
    await untilSeen()
    const retried = await runCli(['transfer', 'retry', nativeTransferId(big!), '--reason', 'a test', '--config', portage.configPath], {
      env: process.env,
    })
    expect(retried.code).toBe(0)
    await outcomes([big!])
    await expectSound()
  })

  test('transfers wait while the bridge is paused, and are delivered seconds after', async () => {
    await admin('togglePause', [])
    const two = await send(11n, 12n)
    for (const status of await wait(two, 'BRIDGE_PAUSED')) expect(status.nonce).toBeUndefined()
    await untilWaiting('BRIDGE_PAUSED', 2)
    await admin('togglePause', [])
    // The signal must wake these transfers, which would check the gate by themselves only after a quarter of an hour.
    await outcomes(two)
    await expectSound()
  })

  test('a key without the role pauses its lane while the other delivers, and the role resumes it', async () => {
    const [first, second] = keys() as [string, string]
    await admin('revokeRole', [relayerRole, first])
    // A hash chooses the lane of each transfer. Of 20 transfers, the hash chooses the first lane for at least one.
    const many = await send(...Array.from({ length: 20 }, () => 13n))
    for (const { delivery } of await outcomes(many)) expect(delivery?.by).toBe(second)
    const paused = await until(async () => (await lane(0)).paused, { timeoutMs: 60_000, everyMs: 200, what: 'the lane to be paused' })
    expect(paused.kind).toBe('unauthorized')
    expect(paused.reason).toContain(`grant RELAYER_ROLE of ${end().bridge} to ${first}`)
    const isUnauthorized = async () =>
      new RegExp(`^portage_lane_unauthorized\\{lane="[^"]*${first}",bridge="native-bridge"\\} 1$`, 'm').test(await metrics())
    await until(isUnauthorized, { timeoutMs: 60_000, everyMs: 100, what: 'the metric to report the lane' })

    // Without the role, neither lane can deliver, so every transfer waits.
    await admin('revokeRole', [relayerRole, second])
    const all = await send(...Array.from({ length: 8 }, () => 14n))
    await wait(all, 'BRIDGE_ROLE_MISSING')
    for (const key of [first, second]) await admin('grantRole', [relayerRole, key])
    await outcomes(all)
    const open = async () => (await Promise.all([lane(0), lane(1)])).every((one) => one.paused === undefined)
    await until(open, { timeoutMs: 90_000, everyMs: 200, what: 'both lanes to be resumed' })
    const seen = new Set<string | undefined>()
    const both = async () => {
      for (const { delivery } of await outcomes(await send(15n, 15n, 15n, 15n))) seen.add(delivery?.by)
      return seen.has(first) && seen.has(second)
    }
    await until(both, { timeoutMs: 150_000, what: 'both keys to deliver' })
    await expectSound()
  })
})
