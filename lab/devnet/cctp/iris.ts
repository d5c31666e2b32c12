import { getBytes, hexlify, keccak256 } from 'ethers'
import type { DevnetAccount } from '../chain/accounts.ts'
import { watchLogs, type Watcher } from '../chain/watch-logs.ts'
import { startVaaServer, type VaaAnswer, type VaaServer } from '../wormhole/vaa-server.ts'
import { asksForFast, type Attestations, createAttestations, type FastTerms, type SeenMessage } from './attestations.ts'
import { cctpAbis, type CctpEnd } from './cctp.ts'

export interface IrisOptions extends FastTerms {
  /** Attesters in ascending order of their addresses. All of them sign. */
  readonly attesters: readonly DevnetAccount[]
  readonly port?: number
  /** Gets errors of the watchers, which continue after errors. Default: errors are ignored. */
  readonly log?: (line: string) => void
}

/** Circle's attestation service ("Iris") of the devnet. Watches the chains, attests messages, and answers over HTTP. */
export interface Iris extends Pick<Attestations, 'treat' | 'signWith'> {
  readonly api: VaaServer
  readonly url: string
  stop(): Promise<void>
}

export async function startIris(ends: readonly CctpEnd[], { attesters, port, log = () => {}, ...terms }: IrisOptions): Promise<Iris> {
  const heights = new Map<number, number>()
  const attestations = createAttestations(attesters, terms, (domain) => heights.get(domain) ?? 0)
  const readHeights = async () => {
    for (const { anvil, domain } of ends) heights.set(domain, Number(await anvil.rpc<string>('eth_blockNumber')))
  }
  await readHeights()
  const timer = setInterval(() => void readHeights().catch(() => {}), 200)
  const watchers = await watchAll(ends, attestations, log)
  const api = await startVaaServer((method, path, query) => irisAnswer(attestations, { method, path, query }), port)
  return {
    api,
    url: api.url,
    treat: attestations.treat,
    signWith: attestations.signWith,
    async stop() {
      clearInterval(timer)
      await Promise.all([api.stop(), ...watchers.map((watcher) => watcher.stop())])
    },
  }
}

async function watchAll(ends: readonly CctpEnd[], { see }: Attestations, log: (line: string) => void): Promise<Watcher[]> {
  const { transmitter: abi } = (await cctpAbis())[2]
  const topic = abi.getEvent('MessageSent')?.topicHash ?? ''
  return ends.flatMap(({ anvil, name, domain, contracts }) =>
    ([1, 2] as const).map((version) =>
      watchLogs(
        { anvil, address: contracts[version].transmitter, topic },
        (level, logs) => {
          for (const one of logs)
            see({ version, domain, logged: getBytes(String(abi.decodeEventLog('MessageSent', one.data)[0])) }, level, one)
        },
        (error) => log(`iris, ${name}: ${error.message}`),
      ),
    ),
  )
}

interface Request {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
}

const routes = /^\/(?:v2\/messages\/(\d{1,10})|v1\/attestations\/(0x[0-9a-f]{64})|v2\/reattest\/(0x[0-9a-f]{64}))$/

/** Answers the routes of Circle's OpenAPI document (cctp.yaml). The v2 route has the messages of both versions. */
export function irisAnswer(attestations: Attestations, { method, path, query }: Request): VaaAnswer {
  const [, domain, hash, nonce] = routes.exec(path) ?? []
  if (method === 'GET' && domain !== undefined) {
    const [txHash, wanted] = [query.get('transactionHash')?.toLowerCase(), query.get('nonce')]
    if (!txHash && !wanted) return { code: 400, body: { code: 400, error: 'transactionHash or nonce is required' } }
    const found = attestations.find((one) => one.domain === Number(domain) && (txHash ? one.txHash === txHash : one.nonce === wanted))
    return found.length === 0 ? notFound : { code: 200, body: { messages: found.map(entryOf) } }
  }
  if (method === 'GET' && hash !== undefined) {
    const [found] = attestations.find((one) => one.version === 1 && keccak256(one.logged) === hash)
    return found ? { code: 200, body: { status: statusOf(found), attestation: found.attested?.attestation ?? null } } : notFound
  }
  if (method !== 'POST' || nonce === undefined) return { code: 404, body: { code: 404, error: 'Not found' } }
  const [found] = attestations.find((one) => one.version === 2 && one.nonce === nonce)
  if (!found) return notFound
  if (!attestations.reattest(found)) return { code: 400, body: { code: 400, error: 'The message is not attested as fast' } }
  return { code: 200, body: { message: 'Re-attestation successfully requested for nonce.', nonce } }
}

const notFound: VaaAnswer = { code: 404, body: { code: 404, error: 'Message not found' } }

function statusOf({ attested }: SeenMessage): string {
  return attested ? 'complete' : 'pending_confirmations'
}

function entryOf(one: SeenMessage) {
  const { attested, version: cctpVersion, nonce: eventNonce } = one
  return {
    message: attested ? hexlify(attested.message) : '0x',
    eventNonce,
    decodedMessage: attested && cctpVersion === 2 ? decodedOf(attested.message) : null,
    attestation: attested?.attestation ?? 'PENDING',
    cctpVersion,
    status: statusOf(one),
    delayReason: !attested && asksForFast(one) ? 'insufficient_fee' : null,
  }
}

/** The body and the hook of a message, which Circle's answers also contain. */
function decodedOf(message: Uint8Array) {
  return { messageBody: hexlify(message.subarray(148)), decodedMessageBody: { hookData: hexlify(message.subarray(376)) } }
}
