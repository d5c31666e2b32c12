/** Asks the node at a URL for logs and prints how many bytes of the answer stay in memory. Run it with --expose-gc. */
import { setImmediate } from 'node:timers/promises'
import { createJsonRpcClient } from '../../chains/evm/nodes/json-rpc-client.ts'

const [, , url = ''] = process.argv
const client = createJsonRpcClient({ url }, 60_000, new AbortController().signal, () => undefined)
const used = async () => {
  // Node collects the garbage of one turn of the event loop only in the next turn.
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate()
    globalThis.gc?.()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
const before = await used()
const answer = await client.request('eth_getLogs', [{}]).catch((error: unknown) => error)
const kept = (await used()) - before
// Keeps the answer in memory until the memory is measured.
const values = Array.isArray(answer) ? answer.length : String(answer)
process.stdout.write(JSON.stringify({ values, kept }))
process.exit()
