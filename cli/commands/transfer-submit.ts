import { Command, InvalidArgumentError } from 'commander'
import type { Config } from '../../config/schema.ts'
import { RelayerError } from '../../domain/errors.ts'
import { redactUrl } from '../../observability/redact.ts'
import type { Cli } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import type { Refusal } from '../output.ts'
import { facts, print, printRefusal } from '../output.ts'

interface SubmitOptions {
  readonly chain?: string
  readonly emitter?: string
  readonly sequence?: string
  readonly native?: NativePlace
  readonly bridge?: string
  readonly priority?: number
  readonly deadline?: string | number
  readonly api?: string
}

/** Guardian APIs may be slow; the API gives up before. */
const answerTimeoutMs = 60_000

/** `portage transfer submit`: through the REST API, so that only its process needs the chains to check signatures. */
export function submitCommand({ context, action }: Cli): Command {
  return new Command('submit')
    .description(
      "Hand in a signed VAA, the place of one that the guardian APIs have, or that of a native bridge's transfer. Needs a running API.",
    )
    .argument('[vaa]', 'the VAA as base64 or hex; - reads it from stdin')
    .option('--chain <chain>', 'source chain: name, or Wormhole chain id')
    .option('--emitter <hex>', 'emitter, 64 hex digits')
    .option('--sequence <number>', 'sequence, decimal')
    .option(
      '--native <source:target:nonce>',
      "a transfer in the table of a native bridge's source: chains by name, and its nonce",
      nativePlace,
    )
    .option('--bridge <name>', 'bridge protocol (default: the first that is configured)')
    .option('--priority <1-5>', 'who goes first where a lane has no room for all: 1 first, 5 last (default: from the config)', priorityOf)
    .option('--deadline <time>', 'a time (ISO 8601), or minutes from now: not delivered by then, it is parked', deadlineOf)
    .option('--api <url>', 'URL of the API (default: from the config)')
    .addHelpText('after', examples)
    .action(
      action(async (globals, vaa: string | undefined, options: SubmitOptions, command: Command) => {
        const { chain, emitter, sequence, native, priority, deadline } = options
        const place = [chain, emitter, sequence]
        const ways = [vaa !== undefined, place.some((part) => part !== undefined), native !== undefined].filter(Boolean).length
        if (ways !== 1 || (vaa === undefined && !native && place.includes(undefined))) {
          command.error('error: give either a VAA, or --chain, --emitter and --sequence, or --native')
        }
        const bridge = options.bridge ?? nativeBridge
        const signed = vaa === undefined ? { chain, emitter, sequence } : { vaa: vaa === '-' ? await readAll(context.stdin) : vaa }
        const what = native ? { bridge, ...native } : signed
        const body = { ...what, priority, deadline }
        const api = options.api ?? apiUrl(await readConfig(context, globals))
        const url = new URL('/v1/transfers', api)
        if (options.bridge && !native) url.searchParams.set('bridge', options.bridge)
        const answer = await post(url, body)
        if ('error' in answer) {
          printRefusal(context, globals, answer.error)
          return exitCodes.failure
        }
        print(
          context,
          globals,
          answer,
          facts({ transfer: answer.id, status: answer.status, adopted: answer.adopted, halted: answer.halted }),
        )
        return exitCodes.ok
      }),
    )
}

/** What --native means unless --bridge says otherwise: its name in the config. */
const nativeBridge = 'native-bridge' satisfies keyof Config['bridges']

interface NativePlace {
  readonly source: string
  readonly target: string
  readonly nonce: string
}

function nativePlace(text: string): NativePlace {
  const [, source, target, nonce] = /^([^:]+):([^:]+):([1-9][0-9]{0,19})$/.exec(text) ?? []
  if (source !== undefined && target !== undefined && nonce !== undefined) return { source, target, nonce }
  throw new InvalidArgumentError('It is <source>:<target>:<nonce>, like ethereum:avalanche:17.')
}

function priorityOf(text: string): number {
  if (/^[1-5]$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a number from 1 to 5.')
}

/** Minutes as a number, a time as it is written: the API reads it, by its own clock. */
function deadlineOf(text: string): string | number {
  if (/^[0-9]+(\.[0-9]+)?$/.test(text) && Number(text) > 0) return Number(text)
  if (!Number.isNaN(Date.parse(text)) && text.includes('T')) return new Date(text).toISOString()
  throw new InvalidArgumentError('It is a time like 2030-01-31T12:00:00Z, or minutes from now.')
}

type Answer =
  | { readonly id: string; readonly status: string; readonly adopted?: true; readonly halted?: string }
  | { readonly error: Refusal }

async function post(url: URL, body: object): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(answerTimeoutMs),
    })
    const answer = (await response.json()) as Partial<{ id: string; status: string; error: Refusal }>
    if (answer.error?.code || answer.id) return answer as Answer
    throw new RelayerError('API_UNAVAILABLE', { detail: 'Something else than Portage answered.', facts: { status: response.status } })
  } catch (cause) {
    if (cause instanceof RelayerError) throw cause
    throw new RelayerError('API_UNAVAILABLE', { facts: { url: redactUrl(url.href) }, cause })
  }
}

function apiUrl({ api }: Config): string {
  if (api.port === 0)
    throw new RelayerError('INPUT_INVALID', { detail: 'The config leaves the port of the API open: name its URL with --api.' })
  // An API that listens on every address is asked on loopback.
  const host = api.host === '0.0.0.0' || api.host === '::' ? '127.0.0.1' : api.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${api.port}`
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8').trim()
}

const examples = `
Examples:
  portage transfer submit AQAAAAABAA…
  portage transfer submit - < vaa.base64
  portage transfer submit - --priority 1 --deadline 90 < vaa.base64
  portage transfer submit --native ethereum:avalanche:17
  portage transfer submit --chain ethereum --sequence 269170 \\
    --emitter 0000000000000000000000003ee18b2214aff97000d974cf647e7c347e8fa585`
