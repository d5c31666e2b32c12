import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partsOf } from '../../lab/demo/load.ts'
import { describeDevnet } from '../../lab/devnet/describe.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { type DevnetFiles, type PublishedChain, readDevnetChains, writeDevnetFiles } from '../../lab/devnet/published-files.ts'
import { sendOf } from '../../lab/devnet/send-products.ts'
import { newestRuns } from '../../lab/faults/newest-runs.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const kinds = ['ntt', 'burn', 'request'] as const

describe('The devnet with NTT, an Executor and CCTP', () => {
  let stage: Stage
  let portage: PortageProcess
  let files: DevnetFiles
  let chains: PublishedChain[]

  beforeAll(async () => {
    stage = await startStage(partsOf('all'))
    const dir = join(stage.devnet.dir, 'files')
    files = await writeDevnetFiles(stage.devnet, dir)
    chains = await readDevnetChains(dir)
    portage = await stage.portage()
  })

  afterAll(() => stage?.close())

  const send = async (kind: string, provider: string) => {
    const [source, target] = chains.map((one) => ({ ...one, ...(one.executor && { executor: { ...one.executor, provider } }) }))
    return (await sendOf(kind)?.(source!, target!, { amount: '1', count: 1 })) ?? []
  }

  test('another process sends each kind by the files of the devnet, and Portage delivers it', async () => {
    const lines = (await Promise.all(kinds.map((kind) => send(kind, `${portage.apiUrl}/v0`)))).flat()
    const keys = lines.map((line) => {
      const [, emitter, sequence, source] = /^\d+\/([0-9a-f]{64})\/(\d+) {2}(\w+) → bsc /.exec(line) ?? []
      return `${source}:${emitter}:${sequence}`
    })
    const states = async () => {
      const seen = await newestRuns(stage.client)
      return keys.map((key) => seen.get(key)?.state)
    }
    await expect.poll(states, { message: lines.join('') }).toEqual(keys.map(() => 'delivered'))
  })

  test('a request without a Portage that quotes fails with the command that starts it', async () => {
    await expect(send('request', 'http://127.0.0.1:1/v0')).rejects.toThrow('Portage must be running: npm run portage -- run --role all')
  })

  test('the devnet names the contracts and accounts of each product, and what to send', () => {
    const text = describeDevnet(stage.devnet, files)
    const { ntt, executor, cctp } = stage.devnet
    for (const one of [ntt?.ends.bsc.manager, executor?.ends.bsc.receiver, cctp?.ends.bsc.contracts[2].messenger, cctp?.iris.url])
      expect(text).toContain(one)
    for (const kind of kinds) expect(text).toContain(`send.ts --kind ${kind}\n`)
    expect(text).toMatch(/^ {2}ntt user +0x[0-9a-f]{40} {2}DEVNET key/m)
  })
})
