import type fc from 'fast-check'
import { createJsonRpcClient } from '../../chains/evm/nodes/json-rpc-client.ts'
import { TransportError, RpcError } from '../../chains/evm/nodes/node-errors.ts'
import { createRemoteKey } from '../../chains/evm/signers/remote.ts'
import { type FuzzTarget, isTyped, target, wordsOf } from './fuzz.ts'
import { createIris } from '../../intake/submit/iris.ts'
import { goodBurn } from './cctp-targets.ts'
import { type HttpAct, httpActs, listen, perform } from './hostile-http.ts'

const silentMs = 250
const timeoutMs = 15_000
const timeoutOf = ({ end }: HttpAct) => (end === 'slow' || end === 'silent' ? silentMs : timeoutMs)

async function startTarget(
  name: string,
  input: fc.Arbitrary<HttpAct>,
  ask: (url: string, act: HttpAct) => Promise<unknown>,
  allowed: FuzzTarget['allowed'],
) {
  let act: HttpAct | undefined
  const hostile = await listen((response) => act && perform(act, response))
  const read = (next: HttpAct) => {
    act = next
    return ask(hostile.url, next)
  }
  return { target: target(name, input, read, allowed), stop: hostile.stop }
}

export function startNodeTarget() {
  const good = [
    { jsonrpc: '2.0', id: 1, result: [{ data: '0x' }] },
    [{ id: 1, error: { code: 3, message: 'execution reverted', data: '0x' } }],
  ]
  const ask = async (url: string, act: HttpAct) => {
    const closing = new AbortController()
    const client = createJsonRpcClient({ url }, timeoutOf(act), closing.signal, () => undefined)
    await client.request('eth_getLogs', []).finally(() => closing.abort())
  }
  return startTarget('node-http', httpActs(good), ask, (error) => error instanceof TransportError || error instanceof RpcError)
}

/** The client of Circle's attestation API. Checks that operators can read its message states. */
export function startIrisTarget() {
  const message = `0x${goodBurn.toString('hex')}`
  const [complete, pending] = [
    { status: 'complete', message, attestation: `0x${'11'.repeat(65)}` },
    { status: 'pending_confirmations', message: '0x', attestation: 'PENDING', delayReason: 'insufficient_fee' },
  ]
  let asked = 0
  const ask = async (url: string, act: HttpAct) => {
    // Rate limits and rests apply per URL. Each request has a new URL, so that the client reads every answer.
    const iris = createIris({ urls: [`${url}/${asked++}`], timeoutMs: timeoutOf(act), restAfter429Ms: 1 })
    const answers = [
      await iris.ofTransaction({ domain: 0, txHash: '0x11' }, async ([one]) => one),
      await iris.ofHash('0x11', async (one) => one),
    ]
    for (const one of answers)
      if (one.kind === 'pending' && !wordsOf(one.why)) throw new Error(`not readable for an operator: ${one.why.slice(0, 500)}`)
  }
  return startTarget('attestation-api', httpActs([{ messages: [complete, pending] }, complete]), ask, isTyped)
}

export function startSignerTarget() {
  const publicKey = `0x04${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8'.slice(0, 128)}`
  const ask = async (url: string, act: HttpAct) => {
    const key = await createRemoteKey({ kind: 'remote', url, timeoutMs: timeoutOf(act), identifier: publicKey })
    await key.sign({ unsigned: '0x02', digest: new Uint8Array(32) })
  }
  return startTarget('remote-signer', httpActs([[publicKey], `0x${'11'.repeat(65)}`]), ask, isTyped)
}
