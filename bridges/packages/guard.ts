import { isErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import type { RevertMeaning } from '../port.ts'
import { encodeCall } from '../kit/calls.ts'
import { encodeView } from '../kit/views.ts'
import type { Call, Message, Next, Plugin, Shown, Stage, Target } from '../kit/plugin.ts'

/** Time limit (ms) for the promise of `next`. No limit helps against code that blocks the process. */
const nextMs = 10_000
const address = /^0x[0-9a-f]{40}$/

/** Checks each answer. The result throws only PLUGIN_FAILED and read errors. Throws an Error if parts are missing. */
export function guarded<C>(plugin: Plugin<C>, limitMs = nextMs): Plugin<C> {
  demandParts(plugin)
  const { name, routes, decode, stages, next, delivered, reverts, parties } = plugin
  const ask = createAsk(name)
  const guardedStage = (stage: string, { call, effect, revertsOnceDone }: Stage<C>): Stage<C> => ({
    call: (message) => ask(`stages.${stage}.call`, () => call(message), problemOfCall(plugin)),
    ...(effect && { effect: (message: Message<C>) => ask(`stages.${stage}.effect`, () => effect(message), problemOfViews) }),
    revertsOnceDone,
  })
  return {
    name,
    routes,
    decode: (message, route) => ask('decode', () => decode(message, route)),
    stages: Object.fromEntries(Object.entries(stages).map(([stage, one]) => [stage, guardedStage(stage, one)])),
    ...(next && { next: (message: Message<C>, target: Target) => askNext(plugin, () => next(message, target), limitMs) }),
    delivered: (message) => ask('delivered', () => delivered(message), problemOfViews),
    reverts: checkedReverts(reverts),
    parties: (message) => ask('parties', () => parties(message), problemOfParties),
  }
}

function demandParts<C>({ decode, delivered, parties, next, stages }: Plugin<C>): void {
  for (const [part, value] of Object.entries({ decode, delivered, parties, ...(next && { next }) }))
    if (typeof value !== 'function') throw new Error(`${part} is no function`)
  const named = Object.entries(stages ?? {})
  if (named.length === 0) throw new Error('it has no stages')
  for (const [stage, { call, effect, revertsOnceDone }] of named)
    if (typeof call !== 'function' || !['function', 'undefined'].includes(typeof effect) || typeof revertsOnceDone !== 'boolean')
      throw new Error(`the stage ${stage} needs call and revertsOnceDone`)
}

function failed(name: string, part: string, what: string, cause?: unknown): RelayerError {
  return new RelayerError('PLUGIN_FAILED', { detail: `${name}: ${part} ${what}`, facts: { plugin: name }, cause })
}

function createAsk(name: string) {
  return <T>(part: string, run: () => T, check?: (answer: T) => string | undefined): T => {
    let problem: string | undefined
    let answer: T
    try {
      answer = run()
      // The check is inside `try`, because reading the answer may throw too.
      problem = answer instanceof Promise ? dropped(answer) : check?.(answer)
    } catch (cause) {
      throw failed(name, part, `threw: ${firstLine(cause)}`, cause)
    }
    if (problem !== undefined) throw failed(name, part, `returned ${problem}`)
    return answer
  }
}

async function askNext<C>({ name, stages }: Plugin<C>, next: () => Promise<Next>, limitMs: number): Promise<Next> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failed(name, 'next', `did not answer within ${limitMs} ms`)), limitMs)
  })
  try {
    const answer = await Promise.race([(async () => next())(), late])
    const problem = problemOfNext(answer, Object.keys(stages))
    if (problem !== undefined) throw failed(name, 'next', `returned ${problem}`)
    return answer
  } catch (error) {
    if (error instanceof RelayerError) throw error
    throw failed(name, 'next', `threw: ${firstLine(error)}`, error)
  } finally {
    clearTimeout(timer)
  }
}

/** A rejection without a handler would end the process. */
function dropped(promise: Promise<unknown>): string {
  promise.catch(() => {})
  return 'a promise'
}

function problemOfCall<C>({ routes }: Plugin<C>) {
  return (answer: Call): string | undefined => {
    const { contract, function: signature, args } = answer
    const isListed = routes.some(({ calls }) => calls.some((rule) => rule.contract === contract && rule.function === signature))
    if (!isListed) return 'a call that no route of it has'
    if (!Array.isArray(args)) return 'a call without args'
    encodeCall(answer)
    return undefined
  }
}

function problemOfViews(answer: readonly Shown[]): string | undefined {
  if (!Array.isArray(answer) || answer.length === 0 || answer.length > 20) return 'no list of 1 to 20 views'
  for (const shown of answer as readonly Shown[]) {
    if (!address.test(shown.contract)) return 'a view whose contract is no address (0x, lower case)'
    encodeView(shown)
  }
  return undefined
}

function problemOfNext(answer: Next, stages: readonly string[]): string | undefined {
  const { stage, wait, never, opensAt } = answer as { [Key in 'stage' | 'wait' | 'never' | 'opensAt']?: unknown }
  if (typeof stage === 'string') return stages.includes(stage) ? undefined : 'a stage that it does not have'
  if (opensAt !== undefined && !(Number.isSafeInteger(opensAt) && Number(opensAt) >= 0)) return 'an opensAt that is no number of seconds'
  return [wait, never].some((text) => typeof text === 'string' && text.length <= 500) ? undefined : 'neither stage nor wait nor never'
}

function problemOfParties({ recipient, token, amount }: ReturnType<Plugin<unknown>['parties']>): string | undefined {
  if (!/^0x[0-9a-f]{1,64}$/.test(recipient)) return 'a recipient that is not 0x and lower-case hex digits'
  if (!/^[\w./:-]{1,120}$/.test(token)) return 'a token that is not 1 to 120 letters, digits and . / : _ -'
  return amount === undefined || /^[0-9]{1,78}$/.test(amount) ? undefined : 'an amount that is no decimal number'
}

function checkedReverts(reverts: Plugin<unknown>['reverts'] = {}): NonNullable<Plugin<unknown>['reverts']> {
  for (const [selector, { kind, ...more }] of Object.entries(reverts)) {
    const { code, reason } = more as Partial<Extract<RevertMeaning, { code: unknown }>>
    const isMeant =
      kind === 'delivered' || (['wait', 'permanent', 'unknown'].includes(kind) && isErrorCode(code) && typeof reason === 'string')
    if (!/^0x[0-9a-f]{8}$/.test(selector) || !isMeant) throw new Error(`reverts: ${selector} is no selector with a meaning`)
  }
  return reverts
}

export function firstLine(error: unknown, most = 200): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text.split('\n')[0] ?? '').slice(0, most)
}
