import { setTimeout } from 'node:timers/promises'
import type { Plugin } from '../../bridges/kit/plugin.ts'
import { encodeView } from '../../bridges/kit/views.ts'
import { firstLine } from '../../bridges/packages/guard.ts'
import { isOutcome, type TransferState } from '../../domain/transfer/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { Devnet } from '../devnet/index.ts'
import type { PortageProcess } from '../devnet/portage-process.ts'
import { until } from '../devnet/until.ts'
import { type Result, resultOf, type Sent } from './result.ts'

export const waitMs = 120_000

type End = 'delivered' | 'declined'

interface Report {
  readonly state?: TransferState
  readonly code?: string
  readonly reason?: string
}

interface Ends {
  readonly plugin: Plugin<unknown>
  readonly delivered: readonly Sent[]
  readonly declined: readonly Sent[]
}

export async function checkEnds(devnet: Devnet, portage: PortageProcess, { plugin, delivered, declined }: Ends): Promise<Result[]> {
  const demandAll = async (wanted: End, all: readonly Sent[]) => {
    await Promise.all(
      all.map((sent) => {
        const { emitterChain, emitter, sequence, digest } = sent.message
        const id = transferId({ bridge: plugin.name, sourceId: String(emitterChain), emitter, sequence, digest })
        return demandEnd(wanted, id, { read: () => readReport(portage, id), views: () => viewsText(devnet, plugin, sent) })
      }),
    )
  }
  const areDelivered = await resultOf(`messages are delivered, each once (${delivered.length})`, async () => {
    await demandAll('delivered', delivered)
    await submitAgain(devnet, portage, delivered)
  })
  if (declined.length === 0) return [areDelivered]
  return [areDelivered, await resultOf(`messages are declined (${declined.length})`, () => demandAll('declined', declined))]
}

interface Watched {
  read(): Promise<Report>
  /** A text for people about the views of `delivered` that do not show the message. */
  views(): Promise<string>
}

/**
 * Waits until the transfer ends as `wanted`. Throws Error with the state, code and reason of the transfer if it ends
 * differently or takes too long.
 */
export async function demandEnd(wanted: End, id: string, { read, views }: Watched, timeoutMs = waitMs): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const { state, code, reason } = await read()
    if (state === wanted) return
    const shown = [state ?? 'not known', code, reason].filter(Boolean).join(' ')
    if (state !== undefined && isOutcome(state)) throw new Error(`${id} is ${shown}, and not ${wanted}`)
    if (state === 'parked') throw new Error(`${id} is ${shown}, and not ${wanted}${await views()}`)
    if (Date.now() > deadline) throw new Error(`${id} is still ${shown} after ${timeoutMs / 1_000} s, and not ${wanted}${await views()}`)
    await setTimeout(200)
  }
}

async function viewsText({ chains }: Devnet, plugin: Plugin<unknown>, { message, route }: Sent): Promise<string> {
  const { anvil } = chains[route.to as keyof Devnet['chains']]
  const texts = plugin.delivered(message).map(async (shown) => {
    const { to, data, is } = encodeView(shown)
    const answer = await anvil.rpc<string>('eth_call', [{ to, data }, 'latest']).catch(firstLine)
    return answer === is ? '' : `; ${shown.view} of ${to} answers ${answer}, and not ${is}`
  })
  return (await Promise.all(texts)).join('')
}

async function readReport({ apiUrl, admin }: PortageProcess, id: string): Promise<Report> {
  const answer = await fetch(`${apiUrl}/v1/transfers/${encodeURIComponent(id)}`, { headers: admin })
  return (await answer.json()) as Report
}

/** Submits the messages again. Throws Error if a second submission causes a transaction. */
async function submitAgain(devnet: Devnet, portage: PortageProcess, sent: readonly Sent[]): Promise<void> {
  const counts = await transactionsOf(devnet)
  for (const { message } of sent) {
    const body = JSON.stringify({ vaa: Buffer.from(message.bytes).toString('base64') })
    const headers = { ...portage.admin, 'content-type': 'application/json' }
    const { ok, status } = await fetch(`${portage.apiUrl}/v1/transfers`, { method: 'POST', headers, body })
    if (!ok) throw new Error(`a second submission was answered with ${status}`)
  }
  const heights = await heightsOf(devnet)
  const isLater = async () => (await heightsOf(devnet)).every((height, index) => height >= (heights[index] ?? 0) + 8)
  await until(isLater, { timeoutMs: waitMs, what: 'eight more blocks' })
  if ((await transactionsOf(devnet)) !== counts) throw new Error('a second submission caused another transaction')
}

async function transactionsOf({ chains, lanes }: Devnet): Promise<string> {
  const counts = lanes.map(({ chain, address }) =>
    chains[chain as keyof Devnet['chains']].anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']),
  )
  return (await Promise.all(counts)).join(' ')
}

async function heightsOf({ chains }: Devnet): Promise<number[]> {
  return Promise.all(Object.values(chains).map(async ({ anvil }) => Number(await anvil.rpc<string>('eth_blockNumber'))))
}
