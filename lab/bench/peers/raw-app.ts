/**
 * A sender without a memory: it signs a call for each message of the spy, counts nonces itself and never waits for a
 * receipt. Its rate is the upper bound of a relayer's rate on a devnet. Reads its settings from PEER_SETTINGS.
 */
import { type ClientReadableStream, credentials, makeClientConstructor } from '@grpc/grpc-js'
import { Interface, Wallet } from 'ethers'
import { postJson } from '../../devnet/chain/post.ts'
import { spyService } from '../../devnet/wormhole/spy.ts'
import type { PeerSettings } from './settings.ts'

const settings = JSON.parse(process.env['PEER_SETTINGS'] ?? '') as PeerSettings
const { spy, sourceChain, sourceBridge, targetBridge, targetNetwork, targetUrl, window } = settings
const abi = new Interface(['function completeTransfer(bytes vaa)'])
const call = { to: targetBridge, type: 2, chainId: targetNetwork, gasLimit: 400_000n }
const fees = { maxFeePerGas: 200_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
const pollMs = 100
const waiting: Buffer[] = []

async function rpc(method: string, params: readonly unknown[]): Promise<string> {
  const { result, error } = (await postJson(targetUrl, { jsonrpc: '2.0', id: 1, method, params })) as {
    result?: string
    error?: { message: string }
  }
  if (result === undefined) throw new Error(`${method}: ${error?.message ?? 'no result'}`)
  return result
}

async function lane(key: string): Promise<void> {
  const wallet = new Wallet(key)
  const count = async (tag: string) => Number(await rpc('eth_getTransactionCount', [wallet.address, tag]))
  const send = async (vaa: Buffer, nonce: number) => {
    const raw = await wallet.signTransaction({ ...call, ...fees, nonce, data: abi.encodeFunctionData('completeTransfer', [vaa]) })
    await rpc('eth_sendRawTransaction', [raw])
  }
  let next = await count('pending')
  for (;;) {
    const mined = waiting.length > 0 ? await count('latest') : next
    const vaas = waiting.splice(0, Math.max(0, window - (next - mined)))
    await Promise.all(vaas.map((vaa) => send(vaa, next++).catch((error: unknown) => void process.stderr.write(`${String(error)}\n`))))
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

const client = new (makeClientConstructor(spyService(), 'SpyRPCService'))(spy, credentials.createInsecure())
const filters = [{ emitterFilter: { chainId: sourceChain, emitterAddress: sourceBridge } }]
const stream = client['SubscribeSignedVAA']?.({ filters }) as ClientReadableStream<{ vaaBytes: Buffer }>
stream.on('data', ({ vaaBytes }: { vaaBytes: Buffer }) => void waiting.push(vaaBytes))
await Promise.all(settings.keys.map(lane))
