import { readFile } from 'node:fs/promises'
import { concat, Interface, ZeroAddress } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import type { SentNativeTransfer } from '../../lab/devnet/native/native-users.ts'
import { nativeTransferId } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { limits } from '../../domain/stream/gaps.ts'
import type { StreamView } from '../../domain/stream/stream.ts'
import { workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { streamViewQuery } from '../../temporal/contracts/stream.ts'
import { sendUnattested } from '../helpers/e2e-token.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'

const coin = { kind: 'coin', amount: 10n ** 16n } as const
const home = { kind: 'coin-home', amount: 10n ** 16n } as const
/** Numbers of transfers that fill a stream: `limits.open` for the native bridge, `maxOpen` for Wormhole's emitter. */
const [dust, newcomers] = [limits.open, 40]
/** Code that accepts coins only in a simulation: GASPRICE PUSH1 5 JUMPI STOP JUMPDEST PUSH1 0 DUP1 REVERT. */
const trapCode = '0x3a600557005b600080fd'

describe('Transfers of strangers that nobody can deliver', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  let nothings: Promise<readonly SentNativeTransfer[]>
  const honest: Sent[] = []

  const view = (stream: string): Promise<StreamView> =>
    stage.client.workflow.getHandle(workflowIdOf(stage.client, stream)).query(streamViewQuery)
  const shows = (stream: string, what: string, wanted: (now: StreamView) => boolean) =>
    until(
      async () => {
        const now = await view(stream)
        return wanted(now) && now
      },
      { timeoutMs: 120_000, everyMs: 200, what },
    )
  const emitterStream = () => `wormhole-token-bridge:ethereum:${toUniversal(stage.devnet.chains.ethereum.tokenBridge)}`
  const countOf = (now: StreamView, code: string) => now.outside?.[code] ?? 0

  beforeAll(async () => {
    stage = await startStage({ native: 'fixed', auditMinutes: 60 })
    portage = await stage.portage({
      configure: (config) => ({
        ...config,
        transfers: { quarantineSeconds: 600 },
        streams: { ...config.streams, uncountedAfterMinutes: 0.02 },
        bridges: {
          ...config.bridges,
          'wormhole-token-bridge': { ...config.bridges['wormhole-token-bridge'], streams: { ethereum: { maxOpen: newcomers } } },
        },
      }),
    })
  }, 120_000)
  afterAll(() => stage?.close())

  test('a recipient that reverts only in blocks costs one loss, and is paid the wrapped coin', async () => {
    const { devnet } = stage
    const script = await Script.of(devnet.chains.bsc.anvil, devnet.outsiders.bsc)
    const bytecode = concat(['0x69', trapCode, '0x600052', '0x600a', '0x6016', '0xf3'])
    const recipient = script.deploy('Trap', [], { abi: new Interface([]), bytecode })
    await script.mine()
    const [first] = (await stage.send('ethereum', [{ ...home, recipient }])) as [Sent]
    await stage.outcomes([first])
    const others = await stage.send('ethereum', [{ ...home, recipient }, { ...home, recipient }, home])
    await stage.outcomes(others)
    const isPaidWrapped = (sent: Sent) => sent.recipient === first.recipient
    honest.push(...[first, ...others].map((sent) => (isPaidWrapped(sent) ? { ...sent, asset: devnet.chains.bsc.weth } : sent)))
    expect(await devnet.check(honest)).toMatchObject({ delivered: honest.length, wrongBalances: 0, revertedTransactions: 1 })
    const metrics = await (await fetch(`${portage.apiUrl}/metrics`)).text()
    expect(metrics).toContain('portage_quarantines_total{chain="bsc",kind="recipient"} 1\n')
    const lines = (await readFile(portage.logFile, 'utf8')).split('\n').filter((line) => line.includes('a recipient is quarantined'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(first.id)
    expect(lines[0]).toContain('QUARANTINED')
  })

  test(`${newcomers} tokens without a wrapper do not stop gap filling: what the spy never sent is found and delivered`, async () => {
    const { guardian } = stage.devnet
    // Both floods run at the same time. The next test checks the native bridge's flood.
    nothings = stage.devnet.native!.users.ethereum.send(Array.from({ length: dust }, () => ({ amount: 1n, recipient: ZeroAddress })))
    await sendUnattested(stage, 'ethereum', newcomers)
    await shows(emitterStream(), 'all of them to be known', (now) => now.open >= newcomers)
    guardian.treat(() => 'mute')
    const [unheard] = (await stage.send('ethereum', [coin])) as [Sent]
    guardian.treat(() => 'sign')
    // This message shows the stream that the preceding message is missing.
    const [heard] = (await stage.send('ethereum', [coin])) as [Sent]
    await stage.outcomes([unheard, heard], 120_000)
    honest.push(unheard, heard)
    const now = await shows(
      emitterStream(),
      'the gap to be closed',
      ({ gaps, next }) => Object.keys(gaps).length === 0 && BigInt(next) > heard.sequence,
    )
    expect([now.room > 0, now.full]).toEqual([true, false])
    expect(countOf(now, 'WRAPPER_MISSING')).toBeGreaterThan(0)
    expect(now.open).toBeGreaterThanOrEqual(newcomers)
  })

  test(`${dust} undeliverable native transfers stop neither the cursor nor the next transfer`, async () => {
    await nothings
    const stream = 'native-bridge:ethereum:bsc'
    await shows(stream, 'all of them to be known', (now) => now.open >= dust)
    const [plain] = (await stage.devnet.native!.users.ethereum.send([{ amount: 7n }])) as [SentNativeTransfer]
    await stage.outcomes([nativeTransferId(plain)], 120_000)
    const now = await shows(
      stream,
      'all to be aside',
      (one) => countOf(one, 'DELIVERY_IMPOSSIBLE') === dust && BigInt(one.next) > plain.nonce && (one.nextHeight ?? 0) > plain.height,
    )
    expect(now).toMatchObject({ open: dust, parked: dust, gaps: {}, full: false })
    expect(now.room).toBe(now.maxOpen.most)
    const { delivered, duplicates, wrongBalances, revertedTransactions, nonceHoles } = await stage.devnet.check([...honest, plain])
    expect({ delivered, duplicates, wrongBalances, revertedTransactions, nonceHoles }).toEqual({
      ...{ delivered: honest.length + 1, duplicates: 0, wrongBalances: 0 },
      ...{ revertedTransactions: 1, nonceHoles: 0 },
    })
  })
})
