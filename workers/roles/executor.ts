import { randomBytes } from 'node:crypto'
import { createProvider, type ExecutorProvider } from '../../bridges/executor/provider.ts'
import { pricedDataBytes } from '../../bridges/executor/quote.ts'
import { executor } from '../../bridges/executor/requests.ts'
import { createQuoteSigner } from '../../chains/registry.ts'
import { executorOf } from '../../config/executor.ts'
import { errorCatalogue, isErrorCode, RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { costNow } from '../../domain/fees/fees.ts'
import { haltOf } from '../../domain/settings/settings.ts'
import { type ChainName, ofChain, type TransferState } from '../../domain/transfer/transfer.ts'
import { readRequest, requestTopics } from '../../bridges/executor/event.ts'
import { judge } from '../../bridges/executor/judge.ts'
import { writeMessage } from '../../bridges/executor/message.ts'
import { type KnownRequest, mostRequests, type RelayStatus, type RequestsOf } from '../../bridges/executor/status.ts'
import type { PriceOf } from '../../bridges/port.ts'
import { isLogOf, type Receipt } from '../../chains/port.ts'
import { readTransfer } from '../../temporal/client/transfers/transfers.ts'
import type { TransferStatus } from '../../temporal/contracts/transfer.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { ProcessContext } from './context.ts'
import { openKey } from './signer.ts'

/**
 * Sample call for the estimate of the fee for data. Its data is random, because the signatures in real calls cannot be
 * compressed either.
 */
const usualCall = { to: `0x${'0'.repeat(40)}`, data: `0x${randomBytes(pricedDataBytes).toString('hex')}`, value: '0' }

/** The relay provider of the config. Undefined without a quoter's key. Throws SIGNER_UNAVAILABLE. */
export async function openProvider({
  config,
  network,
  logger,
  settings: now,
}: Pick<ProcessContext, 'config' | 'logger' | 'settings'> & {
  readonly network: Pick<ProcessContext['network'], 'chains' | 'served' | 'priceOf'>
}): Promise<ExecutorProvider | undefined> {
  const settings = executorOf(config)
  if (!settings?.signer) return undefined
  const { signer, quoter: address } = settings
  const key = await openKey(
    () => createQuoteSigner(signer, address),
    (problem) => logger.warn('the signing service of the quoter does not answer; each quote asks it again', { address, ...problem }),
  )
  const sign = async (message: Uint8Array) => (await key())(message)
  const chains = new Map([...settings.chains].filter(([, { name }]) => network.served.includes(name)))
  const prices = new Map([...settings.chains.values()].map(({ name, price }) => [name, price]))
  const priceOf: PriceOf = network.priceOf ?? (async (chain) => ofChain(prices, { chain }))
  const chainOf = (chain: ChainName) => ofChain(network.chains, { chain })
  const gasPriceOf = async (chain: ChainName) => costNow({ gasLimit: '1' }, await chainOf(chain).quote())
  const dataFeeOf = async (chain: ChainName) => BigInt(await chainOf(chain).dataFee(usualCall))
  return createProvider({ ...settings, chains, sign, priceOf, gasPriceOf, dataFeeOf, assertOpen })

  function assertOpen(sourceChain: ChainName, targetChain: ChainName): void {
    if (haltOf(now(), { bridge: executor, sourceChain, targetChain }))
      throw new RelayerError('HALTED', { facts: { sourceChain, targetChain } })
  }
}

const relayStatuses: Readonly<Record<TransferState, RelayStatus>> = {
  admitting: 'pending',
  waiting: 'pending',
  parked: 'failed',
  broadcasting: 'submitted',
  pending: 'submitted',
  included: 'submitted',
  delivered: 'submitted',
  rejected: 'aborted',
  declined: 'aborted',
  cancelled: 'aborted',
}

/** Codes whose reasons concern only the request. */
const aboutRequest = /^(?:DELIVERY|EXECUTOR|PLACE)_/

/**
 * Cause of a failure, as anybody may read it: the reason if it concerns only the request, otherwise the code's title.
 * Other reasons contain words of operators, URLs of nodes and APIs, and balances of lanes.
 */
function publicCause({ code, reason, failedCall }: Reported): string | undefined {
  if (!isErrorCode(code)) return undefined
  // Without `failedCall`, the status is from an older version, and its reason may have words of nodes.
  const isOfContract = failedCall === 'reverted' || (failedCall === undefined && code !== 'DELIVERY_REVERTED')
  const isPublic = aboutRequest.test(code) && (reason === undefined || isOfContract)
  return isPublic ? (reason ?? code) : errorCatalogue[code].title
}

type Reported = { readonly code?: string | undefined } & Partial<Pick<TransferStatus, 'reason' | 'failedCall'>>

/** Reads requests from the source chain, and their states from the transfers. Undefined without an Executor. */
export function createRequestsOf({
  config,
  network,
  client,
}: Pick<ProcessContext, 'config' | 'network' | 'client'>): RequestsOf | undefined {
  const terms = executorOf(config)
  if (!terms) return undefined
  const { quoter, chains: ofRequests } = terms
  const decode = network.bridges.get(executor)?.decode

  /** @param place index among the transaction's logs */
  const knownOf = async (id: number, receipt: Receipt, place: number, requestedAt: number): Promise<KnownRequest | undefined> => {
    const { block, hash: txHash, logs, firstLog = 0 } = receipt
    const [log, logIndex] = [logs[place], firstLog + place]
    const request = log && unlessTooLarge(() => readRequest({ name: ofRequests.get(id)?.name ?? '' }, log))
    if (!request) return undefined
    const known = { request, chain: id, txHash, logIndex: place, requestedAt, seenAt: Date.now() }
    const refused = (hasStarted: boolean) => {
      const judged = judge(request, id, { requestedAt, now: requestedAt, hasStarted }, terms)
      return judged.kind === 'refused' && { ...known, status: judged.status, failureCause: judged.reason, deliveries: [] }
    }
    const never = refused(true)
    if (never) return never
    const transfer = decode?.(writeMessage({ sourceChain: id, height: block.height, logIndex, txHash, request, attested: [] }))
    const report = transfer && (await readTransfer(client, transferId(transfer)).catch(ifNotFound))
    if (!report) return refused(false) || { ...known, status: 'pending', deliveries: [] }
    const { state = 'admitting' } = report
    const failureCause = publicCause(report)
    const { txHash: delivery, blockHeight = 0, gasPaid = '0' } = ('delivery' in report && report.delivery) || {}
    const deliveries = delivery === undefined ? [] : [{ chain: request.targetChain, txHash: delivery, blockHeight, cost: BigInt(gasPaid) }]
    return { ...known, status: relayStatuses[state], deliveries, ...(failureCause !== undefined && { failureCause }) }
  }

  return async (txHash, only) => {
    const rows: KnownRequest[] = []
    const reads = [...ofRequests].map(async ([id, { name, contract: address }]) => {
      const chain = only === undefined || id === only ? network.chains.get(name) : undefined
      const receipt = await chain?.receipt(txHash)
      return chain && receipt ? [{ id, chain, address, receipt }] : []
    })
    const answers = await Promise.allSettled(reads)
    const found = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const failed = answers.find((one) => one.status === 'rejected')
    // Throw only if no other chain has the transaction, so that an outage of one chain does not hide the requests of
    // another.
    if (failed && found.length === 0) throw failed.reason
    for (const { id, chain, address, receipt } of found) {
      const isOwn = isLogOf({ address, topics: requestTopics(quoter) })
      const places = receipt.logs.flatMap((log, place) => (isOwn(log) ? [place] : [])).slice(0, mostRequests - rows.length)
      const { timestamp = 0 } = (places.length > 0 && (await chain.block(receipt.block.height, 'latest'))) || {}
      for (const place of places) {
        const known = await knownOf(id, receipt, place, timestamp)
        if (known) rows.push(known)
      }
    }
    return rows
  }
}

/** Undefined for a request that is too large, because it never becomes a transfer. */
function unlessTooLarge<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (toRelayerError(error).code !== 'MESSAGE_TOO_LARGE') throw error
    return undefined
  }
}

function ifNotFound(error: unknown): undefined {
  if (toRelayerError(error).code !== 'TRANSFER_NOT_FOUND') throw error
}
