import { forms, isOf, parseTime } from '../../../domain/text/forms.ts'
import { text } from 'node:stream/consumers'
import { InvalidArgumentError } from 'commander'
import type { Config } from '../../../config/schema/schema.ts'
import { knownCode, RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Terms } from '../../../domain/transfer/transfer.ts'
import { redactUrl } from '../../../observability/redact.ts'
import { type Call, type CommandSpec, givenToken } from '../../command.ts'
import { parse } from '../../arguments/options.ts'
import { orderText } from '../../orders.ts'
import { facts } from '../../output/output.ts'
import { invalid } from '../../../operations/orders/spec.ts'

interface SubmitOptions extends Terms {
  readonly chain?: string
  readonly emitter?: string
  readonly sequence?: string
  readonly native?: ReturnType<typeof nativePlace>
  readonly bridge?: string
  readonly priority?: number
  readonly deadline?: string | number
  readonly reason?: string
  readonly api?: string
}

/** Time limit of the request (ms), longer than the API's own wait for guardian APIs. */
const answerTimeoutMs = 60_000

export const submit: CommandSpec = {
  ...orderText('transfer submit'),
  options: (command) =>
    command
      .argument('[vaa]', 'the VAA as base64 or hex; - reads it from stdin')
      .option('--chain <chain>', 'source chain: name, or Wormhole chain id')
      .option('--emitter <hex>', 'emitter, 64 hex digits')
      .option('--sequence <number>', 'sequence, decimal')
      .option(
        '--native <source:target:nonce>',
        'a transfer of a native bridge: the names of its source and target, and its nonce in the table of the source',
        nativePlace,
      )
      .option('--bridge <name>', 'name of the bridge (default: the bridge that the VAA belongs to)')
      .option(
        '--priority <1-5>',
        'rank of the transfer while a lane has no room for all transfers: 1 first, 5 last (default: from the config)',
        parse.priority,
      )
      .option('--deadline <time>', 'a time (ISO 8601), or minutes from now: a transfer that is not delivered by then is parked', deadlineOf)
      .option('--max-fee-per-gas <amount>', 'maximum price per unit of gas; can only lower the configured limit', parse.wei)
      .option('--max-fee-per-transaction <amount>', 'maximum cost of the transaction; can only lower the configured limit', parse.wei)
      .option('--lane <lane>', 'the only lane that may deliver the transfer: its id or address')
      .option(
        '--reason <text>',
        'reason for the submission; a new transfer keeps the reason and the name of the token (default: handed in)',
      )
      .option('--api <url>', 'URL of the API (default: from the config)', parse.url),
  run: async (call: Call<SubmitOptions>, vaa: string | undefined) => {
    const { native, chain: _, emitter: __, sequence: ___, api, bridge, ...how } = call.options
    const message = await messageOf(call, vaa)
    const url = new URL('/v1/transfers', api ?? apiUrl(await call.config()))
    if (bridge && !native) url.searchParams.set('bridge', bridge)
    const token = await givenToken(call.context, call.globals)
    if (token === undefined) throw new RelayerError('ACCESS_TOKEN_MISSING')
    const answer = await post(url, token, { ...message, ...how })
    const { id: transfer, status, adopted, halted, ignored } = answer
    return { json: answer, text: facts({ transfer, status, adopted, halted, 'no effect': ignored?.join(', ') }) }
  },
}

async function messageOf({ context, options, misuse }: Call<SubmitOptions>, vaa: string | undefined): Promise<object> {
  const { chain, emitter, sequence, native, bridge = 'native-bridge' satisfies keyof Config['bridges'] } = options
  const place = [chain, emitter, sequence]
  const given = [vaa !== undefined, place.some((part) => part !== undefined), native !== undefined].filter(Boolean).length
  if (given !== 1 || (vaa === undefined && !native && place.includes(undefined)))
    misuse('give either a VAA, or --chain, --emitter and --sequence, or --native')
  if (native) return { bridge, ...native }
  return vaa === undefined ? { chain, emitter, sequence } : { vaa: vaa === '-' ? (await text(context.stdin)).trim() : vaa }
}

function nativePlace(text: string) {
  const [, source, target, nonce] = /^([^:]+):([^:]+):([1-9][0-9]*)$/.exec(text) ?? []
  if (source !== undefined && target !== undefined && isOf(forms.u64, nonce)) return { source, target, nonce }
  throw new InvalidArgumentError('It is <source>:<target>:<nonce>, like ethereum:avalanche:17.')
}

/** Returns minutes, which the API adds to the time of its own clock, or a time in ISO 8601. */
function deadlineOf(text: string): string | number {
  if (/^[0-9]+(\.[0-9]+)?$/.test(text) && Number(text) > 0) return Number(text)
  const at = parseTime(text)
  if (at !== undefined) return new Date(at).toISOString()
  throw new InvalidArgumentError('It is a time with its zone, like 2030-01-31T12:00:00Z, or minutes from now.')
}

type Answer = Record<'id' | 'status', string> & { readonly adopted?: true; readonly halted?: string; readonly ignored?: readonly string[] }
type Problem = Record<'code' | 'detail', string> & Pick<RelayerError, 'title' | 'remedy' | 'facts'>

/** Throws API_UNAVAILABLE, or the API's own error unchanged, because a newer API may have other codes. */
async function post(url: URL, token: string, body: object): Promise<Answer> {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    // A redirect would send the token to another address.
    redirect: 'error',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(answerTimeoutMs),
  } as const
  const read = async (response: Response) => ({
    status: response.status,
    answer: Object(await response.json()) as Partial<Answer & Problem>,
  })
  const { status, answer } = await fetch(url, request)
    .then(read)
    .catch((cause: unknown) => {
      throw new RelayerError('API_UNAVAILABLE', { facts: { url: redactUrl(url.href) }, cause })
    })
  if (answer.id !== undefined && answer.code === undefined) return answer as Answer
  if (answer.code === undefined) throw new RelayerError('API_UNAVAILABLE', { detail: 'The answer is not from Portage.', facts: { status } })
  const { code, title, detail, remedy, facts } = answer as Problem
  throw Object.assign(new RelayerError(knownCode(code), { detail }), { code, title, remedy, facts })
}

function apiUrl({ api }: Config): string {
  if (api.port === 0) throw invalid('The config leaves the port of the API open: name its URL with --api.')
  const host = api.host === '0.0.0.0' || api.host === '::' ? '127.0.0.1' : api.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${api.port}`
}
