import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { devnetSigner, payment } from '../helpers/evm.ts'
import { startHostileServer } from '../helpers/hostile-server.ts'
import { evmSetting, unknownHash } from './setting.ts'

describe('the HTTP of a hostile node', () => {
  const { anvil, connect } = evmSetting(2)

  async function turning(answer: (response: ServerResponse, id: number) => void) {
    let turned = false
    const url = await startHostileServer((body, response) => {
      if (turned) return answer(response, ([JSON.parse(body)].flat() as { id: number }[])[0]!.id)
      fetch(anvil.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
        .then(async (upstream) => response.end(await upstream.text()))
        .catch(() => response.destroy())
    })
    const chain = await connect([url, anvil.url], { timeoutMs: 3_000, blockTimeMs: 60_000 })
    turned = true
    return chain
  }

  test('a redirect is not followed: a signed transaction stays with the nodes of the config', async () => {
    const stolen: string[] = []
    const thief = await startHostileServer((body, response) => {
      stolen.push(body)
      response.end('{}')
    })
    const chain = await turning((response) => void response.writeHead(307, { location: thief }).end())
    const signer = await devnetSigner(34)
    expect(await chain.send((await signer.sign(payment(signer, 0))).raw)).toEqual({ kind: 'accepted' })
    expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    expect(stolen).toEqual([])
    await anvil.mine()
  })

  const code = (id: number, bytes: number) => ({ jsonrpc: '2.0', id, result: `0x${'60'.repeat(bytes)}` })

  test.each([
    [
      '58 KB that unpack to 60 MB',
      (response: ServerResponse, id: number) =>
        void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(code(id, 30_000_000)))),
    ],
    ['2 MB of code', (response: ServerResponse, id: number) => void response.end(JSON.stringify(code(id, 1_000_000)))],
    ['an announcement of 60 MB', (response: ServerResponse) => void response.writeHead(200, { 'content-length': 60_000_000 }).write('{')],
    [
      '50,000 answers',
      (response: ServerResponse, id: number) => void response.end(JSON.stringify(Array.from({ length: 50_000 }, () => code(id, 1)))),
    ],
  ])('%s: read no further, counted as its failure, and the next node is asked', async (_, answer) => {
    const chain = await turning(answer)
    expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    expect(chain.nodes()[0]).toMatchObject({ failures: 1 })
  })

  test('a body without an end is given up in time, whatever part of it has come', async () => {
    const sent: number[] = []
    const chain = await turning((response) => {
      response.writeHead(200)
      const drip = setInterval(() => sent.push(Number(response.write(' '))), 50)
      response.on('close', () => clearInterval(drip))
    })
    expect(await chain.transactionSender(unknownHash)).toBeUndefined()
    expect(sent.length).toBeGreaterThan(1)
  })
})
