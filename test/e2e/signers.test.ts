import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Kms, kmsEnvironment, kmsKeyId, startKms } from '../../lab/devnet/signing/kms.ts'
import type { PortageOptions } from '../../lab/devnet/portage-process.ts'
import type { ConfigInput } from '../../lab/devnet/relayer-config.ts'
import { until } from '../../lab/devnet/until.ts'
import { startWeb3Signer, type Web3Signer } from '../../lab/devnet/signing/web3signer.ts'
import { allDeliveredOnce, inFlight } from '../faults/judge.ts'
import { died, resubmit, sendCoins, startDoomed, startSound } from '../faults/processes.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const count = 10
const amount = 10n ** 16n

describe('keys that are not on this machine', { timeout: 300_000 }, () => {
  let stage: Stage
  let remote: Web3Signer
  let kms: Kms

  beforeAll(async () => {
    stage = await startStage()
    remote = await startWeb3Signer(stage.devnet.lanes.filter(({ chain }) => chain === 'ethereum'))
    kms = await startKms(stage.devnet.lanes.filter(({ chain }) => chain === 'bsc'))
    // The devnet puts the lane keys into the environment. The process must not get them.
    const noKeys = Object.fromEntries(stage.devnet.lanes.map(({ variable }) => [variable, '']))
    await stage.portage({ configure: withServices, env: { ...noKeys, ...kmsEnvironment } })
  })

  afterAll(async () => {
    await stage?.close()
    await remote?.stop()
    await kms?.stop()
  })

  function withServices(config: ConfigInput): ConfigInput {
    const chains = Object.fromEntries(
      Object.entries(config.chains).map(([name, chain]) => {
        const lanes = (chain.lanes ?? []).map((lane) => {
          const signer =
            name === 'ethereum'
              ? { kind: 'remote' as const, url: remote.url }
              : { kind: 'aws-kms' as const, keyId: kmsKeyId({ address: lane.address.toLowerCase() }), endpoint: kms.url }
          return { ...lane, signer }
        })
        return [name, { ...chain, lanes }]
      }),
    )
    return { ...config, chains }
  }

  test('web3signer and KMS keys deliver ten transfers each', async () => {
    const transfers = Array.from({ length: count }, (_, index) => ({ kind: 'coin' as const, amount: amount + BigInt(index) * 10n ** 12n }))
    const sent = (await Promise.all([stage.send('ethereum', transfers), stage.send('bsc', transfers)])).flat()
    const ends = await stage.outcomes(sent)
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
    expect((await expectDelivered(stage, sent)).revertedTransactions).toBe(0)
    expect(remote.signatures).toBeGreaterThanOrEqual(count)
    expect(kms.signatures).toBeGreaterThanOrEqual(count)
  })

  test('a signing service that is away delays its lane for as long, and nothing is lost', async () => {
    kms.mode = 500
    const sent = await sendCoins(stage, 3)
    const stuck = async () => (await inFlight(stage, sent)) === sent.length
    await until(stuck, { timeoutMs: 60_000, what: 'the transfers to be on their way' })
    const asked = kms.refusals
    await until(() => kms.refusals >= asked + 3, { timeoutMs: 120_000, what: 'the lane to have asked KMS in vain' })
    kms.mode = 'well'
    const ends = await stage.outcomes(sent, 120_000)
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
    await expectDelivered(stage, sent)
  })
})

describe('kill -9 of a process whose key is in KMS: no second signature is like the first', { timeout: 400_000 }, () => {
  let stage: Stage
  let kms: Kms
  let options: PortageOptions

  beforeAll(async () => {
    stage = await startStage({ window: 5 })
    kms = await startKms(stage.devnet.lanes)
    const configure = (config: ConfigInput): ConfigInput => ({
      ...config,
      chains: Object.fromEntries(
        Object.entries(config.chains).map(([name, chain]) => {
          const inKms = (address: string) => ({
            kind: 'aws-kms' as const,
            keyId: kmsKeyId({ address: address.toLowerCase() }),
            endpoint: kms.url,
          })
          return [name, { ...chain, lanes: (chain.lanes ?? []).map((lane) => ({ ...lane, signer: inKms(lane.address) })) }]
        }),
      ),
    })
    options = { configure, env: kmsEnvironment }
  })

  afterAll(async () => {
    await stage?.close()
    await kms?.stop()
  })

  test.each(['after-sign', 'after-send'] as const)('%s: delivered once, each nonce by its own call', async (failpoint) => {
    const doomed = await startDoomed(stage, failpoint, 'kill', 3, options)
    const sent = await sendCoins(stage, 8)
    await died(stage, doomed)
    expect(await inFlight(stage, sent)).toBeGreaterThan(0)
    const sound = await startSound(stage, options)
    await resubmit(stage, sound, sent)
    await allDeliveredOnce(stage, stage.sent, 150_000)
    await stage.end(sound)
  })
})
