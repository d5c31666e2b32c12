import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { artifact, Script } from '../../lab/devnet/chain/contracts.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { devnetTokenFeeWei } from '../../lab/devnet/relayer-config.ts'
import { transferKinds } from '../../lab/devnet/wormhole/users.ts'
import { type Message, toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { published } from '../../lab/devnet/wormhole/wormhole.ts'
import type { StreamView } from '../../domain/stream/stream.ts'
import { nameOf, workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { streamViewQuery } from '../../temporal/contracts/stream.ts'
import { runCli } from '../cli/run-cli.ts'
import { type ForeignChain, registerForeign } from '../helpers/e2e-foreign.ts'
import { expectDelivered, expectNotDelivered } from '../helpers/e2e-judge.ts'
import { logLines } from '../helpers/log-lines.ts'
import { activitySummaries, currentDetails, summaries } from '../helpers/e2e-web-ui.ts'
import { type Stage, ledgerId, startStage } from '../helpers/e2e.ts'
import { transferPayload } from '../helpers/vaa.ts'

const amount = 10n ** 18n
/** First number of the stream of Solana's token bridge. The stream of Sui has no configured first number. */
const first = '1000000'

const bridgeAbi = artifact('BridgeImplementation').abi

describe('Every kind of transfer, both ways', () => {
  let stage: Stage
  let portage: PortageProcess

  beforeAll(async () => {
    stage = await startStage()
    portage = await stage.portage({
      configure: (config) => ({
        ...config,
        bridges: {
          'wormhole-token-bridge': {
            ...config.bridges['wormhole-token-bridge'],
            everySource: 'mainnet',
            streams: { 'wormhole-1': { first } },
          },
        },
      }),
    })
  })

  afterAll(() => stage?.close())

  const metrics = async () => {
    const text = await (await fetch(`${portage.apiUrl}/metrics`)).text()
    return { refused: Number(text.match(/portage_intake_refused_total\{[^}]*code="EMITTER_UNKNOWN"[^}]*\} (\d+)/)?.[1] ?? 0) }
  }

  test("all four kinds are delivered once from both chains, and the fee is the lane's", async () => {
    const transfers = transferKinds.map((kind) => ({ kind, amount, fee: devnetTokenFeeWei }))
    const sent = (await Promise.all([stage.send('ethereum', transfers), stage.send('bsc', transfers)])).flat()
    const ends = await stage.outcomes(sent)
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
    const result = await expectDelivered(stage, sent)
    expect(result.revertedTransactions).toBe(0)
    const lanes = stage.devnet.lanes.map(({ address }) => address)
    expect(Object.keys(result.deliveredBy).toSorted()).toEqual(lanes.toSorted())
    expect(Object.values(result.feesEarned)).toEqual([2n, 2n, 2n, 2n].map((count) => count * devnetTokenFeeWei))
    for (const [index, end] of ends.entries()) {
      const finding = result.findings.find(
        ({ transfer }) => transfer.sequence === sent[index]?.sequence && transfer.source === sent[index]?.source,
      )
      expect(finding).toMatchObject({ txHashes: [end.txHash], redeemedBy: [end.delivery?.by], blockHeight: end.delivery?.blockHeight })
    }
  })

  test('without a fee a coin is delivered, and a token is declined with the code', async () => {
    const transfers = transferKinds.map((kind) => ({ kind, amount }))
    const sent = (await Promise.all([stage.send('ethereum', transfers), stage.send('bsc', transfers)])).flat()
    const ends = await stage.outcomes(sent)
    const coins = sent.filter(({ kind }) => kind.startsWith('coin'))
    const tokens = sent.filter(({ kind }) => kind.startsWith('token'))
    for (const [index, end] of ends.entries()) {
      const coin = sent[index]?.kind.startsWith('coin')
      expect(end).toMatchObject(
        coin ? { state: 'delivered' } : { state: 'declined', code: 'FEE_TOO_LOW', reason: expect.stringMatching(/fee/i) },
      )
    }
    await expectDelivered(stage, coins)
    await expectNotDelivered(stage, tokens)
    const { status } = await stage.client.workflow.getHandle(tokens[0]!.id).describe()
    expect(status.name).toBe('COMPLETED')
  })

  test('the log has the start and the end of each with its ids, and every warning says what to do', async () => {
    const all = async () => (await logLines(portage.logFile)).filter(({ transfer }) => stage.sent.some(({ id }) => id === transfer))
    const ended = async () =>
      new Set((await all()).filter(({ message }) => /delivered|declined/.test(message)).map(({ transfer }) => transfer))
    await until(async () => (await ended()).size === stage.sent.length, { timeoutMs: 60_000, what: 'the last lines' })
    const lines = await all()
    for (const { id, source, sequence } of stage.sent) {
      const [first, ...others] = lines.filter(({ transfer }) => transfer === id)
      const ids = {
        level: 'info',
        bridge: 'wormhole-token-bridge',
        source,
        target: source === 'ethereum' ? 'bsc' : 'ethereum',
        sequence: String(sequence),
      }
      expect(first).toMatchObject({ ...ids, message: 'transfer started' })
      expect(first).not.toHaveProperty('code')
      const { state, code, txHash, lane } = await stage.client.workflow.getHandle(id).result()
      const about = state === 'delivered' ? { txHash, lane } : { code }
      expect(others.at(-1)).toMatchObject({ ...ids, ...about, message: `transfer ${state}`, tookMs: expect.any(Number) })
    }
    const warnings = (await logLines(portage.logFile)).filter(({ level }) => level === 'warn' || level === 'error')
    expect(warnings.filter(({ code, remedy }) => !code || !remedy)).toEqual([])
  })

  test('a transfer with a call (payload 3) is declined: only its recipient could redeem it', async () => {
    const { chains, outsiders, guardian } = stage.devnet
    const { anvil, core, tokenBridge, wormholeChainId } = chains.ethereum
    const script = await Script.of(anvil, outsiders.ethereum)
    const recipient = `0x${toUniversal(outsiders.bsc.address)}`
    script.call(tokenBridge, bridgeAbi, 'wrapAndTransferETHWithPayload', [chains.bsc.wormholeChainId, recipient, 0, '0xc0ffee'], amount)
    const [mined] = await script.mine()
    const [message] = published(mined!, core, wormholeChainId)
    const { bytes } = await guardian.waitFor(wormholeChainId, message!.emitter, message!.sequence)
    const { status, body } = await stage.submit(portage, bytes)
    expect(status).toBeLessThan(300)
    const [end] = await stage.outcomes([String(body['id'])])
    expect(end).toMatchObject({ state: 'declined', code: 'PAYLOAD_WITH_CALL', reason: expect.stringContaining(outsiders.bsc.address) })
    const lanes = await expectDelivered(stage, [])
    expect(lanes.revertedTransactions).toBe(0)
  })

  test('the Temporal Web UI is given a summary of each workflow and each step, and details that keep up', async () => {
    const { client } = stage
    const summary = async (id: string) => (await client.workflow.getHandle(id).describe()).staticSummary()
    const [sent] = await stage.send('ethereum', [{ kind: 'coin', amount }])
    const [end] = await stage.outcomes([sent!])
    expect(await summary(sent!.id)).toBe(`wormhole-token-bridge: ethereum → bsc, sequence ${sent!.sequence}`)
    const steps = await activitySummaries(client, sent!.id)
    const lane = ledgerId(stage.devnet, 'bsc')
    // On a slow machine no local slot may be free. Then the broadcast goes through the queue only.
    const broadcast = `broadcast ethereum → bsc #${sent!.sequence} by ${lane.slice('lane:'.length)}`
    expect([broadcast, `${broadcast}, locally`].some((summary) => steps.includes(summary))).toBe(true)
    const details = await currentDetails(client, sent!.id)
    expect(details).toContain('delivered')
    expect(details).toContain(`by our ${end!.delivery?.by} in block ${end!.delivery?.blockHeight}`)

    expect(await summary(lane)).toBe(`nonce ledger of ${lane.slice('lane:'.length)}`)
    expect(await currentDetails(client, lane)).toMatch(/nonce/i)
    const streams = client.workflow.list({ query: "WorkflowType = 'stream'" })
    for await (const { workflowId } of streams) {
      expect(await summary(workflowId)).toBe(`numbered source ${nameOf(client, workflowId.slice('stream:'.length))}`)
      expect(await currentDetails(client, workflowId)).not.toBe('')
    }
    for await (const { workflowId, runId } of client.workflow.list())
      expect([workflowId, (await summaries(client, workflowId, 'any', runId)).filter((text) => text === '')]).toEqual([workflowId, []])
  })

  describe('from chains that we have no node of', () => {
    const view = (stream: string): Promise<StreamView> =>
      stage.client.workflow.getHandle(workflowIdOf(stage.client, stream.replace(':wormhole-', ':'))).query(streamViewQuery)
    const isProved = (stream: string, next: bigint) =>
      until(
        async () => {
          const now = await view(stream)
          return now.completedNumber === String(next - 1n) && now.next === String(next) && now
        },
        { timeoutMs: 120_000, everyMs: 100, what: `${stream} to be proved below ${next}` },
      )
    const observe = (messages: readonly Message[], mute: readonly Message[] = []) => {
      stage.devnet.guardian.treat((one) => (mute.includes(one) ? 'mute' : 'sign'))
      for (const one of messages) stage.devnet.guardian.observe(one)
      stage.devnet.guardian.treat(() => 'sign')
    }
    const cli = (...argv: string[]) => runCli([...argv, '--config', portage.configPath], { env: stage.devnet.env })
    let solana: ForeignChain
    let sui: ForeignChain

    beforeAll(async () => {
      const [one, other] = await registerForeign(stage, 'bsc', [1, 21])
      ;[solana, sui] = [one!, other!]
    })

    test('messages from Solana that the spy sends or omits are delivered once, others are skipped', async () => {
      await until(() => stage.devnet.guardian.spy.subscribers === 1, { timeoutMs: 60_000, what: 'the subscription' })
      const messages = [0n, 1n, 2n, 3n, 4n].map((above) => solana.message(BigInt(first) + above, above % 3n === 0n ? 30 : undefined))
      const [, , muted, mutedElsewhere] = messages
      observe(messages, [muted!, mutedElsewhere!])
      const sent = await stage.identify(messages.filter((_, index) => index % 3 !== 0).map(solana.sent))
      const ends = await stage.outcomes(sent)
      expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
      expect(sent.map(({ id }) => id.split(':').slice(0, 4).join(':'))).toEqual(
        [1n, 2n, 4n].map((above) => `wormhole-token-bridge:1:${solana.emitter}:${BigInt(first) + above}`),
      )
      await expectDelivered(stage, sent)
      const { counts, gaps, alarms } = await isProved(solana.stream, BigInt(first) + 5n)
      expect({ ...counts, gaps, alarms }).toMatchObject({ completed: 3, ignored: 2, gaps: {}, alarms: [] })
      const shown = await cli('stream', 'show', solana.stream)
      expect(shown.out).toContain('the config has no node of Solana (wormhole-1)')
      for (const what of ['head: ', 'finality: ', 'unobserved: ']) expect(shown.out).toContain(`\n  ${what}`)
      const { streams } = (await cli('stream', 'list', '--json')).json() as {
        streams: readonly { stream: string; unproved?: readonly string[] }[]
      }
      expect(streams.filter(({ unproved }) => unproved?.length === 3).map(({ stream }) => stream)).toEqual([solana.stream])
    })

    test('an audit finds the highest message from Sui, which the spy never sent', async () => {
      const [heard, muted] = [sui.message(7n), sui.message(8n)]
      observe([heard, muted], [muted])
      const [before] = await stage.identify([sui.sent(heard)])
      const began = () => view(sui.stream).then(({ next }) => BigInt(next) >= 8n)
      await until(began, { timeoutMs: 60_000, everyMs: 100, what: 'the stream to begin with the first message that was heard' })
      expect(await cli('stream', 'audit', sui.stream)).toMatchObject({ code: 0 })
      const sent = [before!, ...(await stage.identify([sui.sent(muted)]))]
      await stage.outcomes(sent)
      await isProved(sui.stream, 9n)
      await expectDelivered(stage, sent)
    })

    test('messages from an emitter that the target does not know are not delivered', async () => {
      const { guardian } = stage.devnet
      const strangers = [
        { emitterChain: 22, emitter: sui.emitter },
        { emitterChain: 21, emitter: 'ff'.repeat(32) },
      ]
      const before = (await metrics()).refused
      const payload = transferPayload({ toChain: stage.devnet.chains.bsc.wormholeChainId })
      const message = { timestamp: Math.floor(Date.now() / 1_000), vaaNonce: 0, sequence: 9n, consistencyLevel: 1, payload }
      // The spy publishes these messages as messages of Sui's emitter, but the signed bytes name other emitters.
      for (const stranger of strangers) guardian.spy.publish(guardian.sign({ ...message, ...stranger }).bytes, 21, sui.emitter)
      await until(async () => (await metrics()).refused === before + 2, { timeoutMs: 60_000, what: 'both to be refused' })
      expect((await view(sui.stream)).next).toBe('9')
    })
  })
})
