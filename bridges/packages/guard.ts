import { isErrorCode, isPluginFailure, RelayerError } from '../../domain/catalogue/errors.ts'
import type { RevertMeaning } from '../port.ts'
import { argumentBeyond, encodeCall } from '../kit/calls.ts'
import { encodeView } from '../kit/views.ts'
import type { Call, CallRule, Message, Next, Plugin, Policy, Shown, Stage, Target } from '../kit/plugin.ts'

/**
 * An `opensAt` (seconds) that is more than ten years ahead, or after the year 9999, is a mistake, such as a time in ms.
 */
const [longestSeconds, lastSecond] = [10 * 365 * 86_400, 253_402_300_799]
/** Maximum bytes of a list of views with their answers. A plan has two lists, and becomes part of histories. */
export const mostViewBytes = 8_192
const address = /^0x[0-9a-f]{40}$/

/**
 * Returns a plug-in that checks each answer of the given plug-in. Its functions throw PLUGIN_FAILED, and `next` also
 * throws the errors of the given `next`. Throws an Error if the meaning of a revert is wrong.
 */
export function guarded<C>(plugin: Plugin<C>): Plugin<C> {
  const { name, routes, decode, stages, next, delivered, reverts, parties, policy, earned, retry, bytesOf } = plugin
  const ask = createAsk(name)
  const guardedStage = (stage: string, { call, effect, revertsOnceDone }: Stage<C>): Stage<C> => ({
    call: (message) => ask(`stages.${stage}.call`, () => call(message), problemOfCall(plugin, message)),
    ...(effect && { effect: (message: Message<C>) => ask(`stages.${stage}.effect`, () => effect(message), problemOfViews) }),
    revertsOnceDone,
  })
  return {
    name,
    routes,
    decode: (message, route) => ask('decode', () => decode(message, route)),
    stages: Object.fromEntries(Object.entries(stages).map(([stage, one]) => [stage, guardedStage(stage, one)])),
    ...(next && {
      async next(message: Message<C>, target: Target) {
        const answer = await next(message, target)
        return ask('next', () => answer, problemOfNext(Object.keys(stages), target.now))
      },
    }),
    delivered: (message) => ask('delivered', () => delivered(message), problemOfViews),
    reverts: checkedReverts(reverts),
    parties: (message) => ask('parties', () => parties(message), problemOfParties),
    ...(policy && { policy: (message: Message<C>) => ask('policy', () => policy(message), problemOfPolicy) }),
    ...(earned && { earned: (message: Message<C>) => ask('earned', () => earned(message), problemOfEarned) }),
    ...(retry && { retry }),
    ...(bytesOf && { bytesOf }),
  }
}

export function failed(name: string, what: string, cause?: unknown): RelayerError {
  return new RelayerError('PLUGIN_FAILED', { detail: `${name}: ${what}`, facts: { plugin: name }, cause })
}

function createAsk(name: string) {
  return <T>(part: string, run: () => T, check?: (answer: T) => string | undefined): T => {
    let problem: string | undefined
    let answer: T
    try {
      answer = run()
      // The check is inside `try`, because it may throw for a malformed answer.
      problem = check?.(answer)
    } catch (cause) {
      throw isPluginFailure(cause) ? cause : failed(name, `${part} threw: ${firstLine(cause)}`, cause)
    }
    if (problem !== undefined) throw failed(name, `${part} returned ${problem}`)
    return answer
  }
}

/**
 * Returns the problem of a call, undefined if the call is allowed. The arguments must be the signed message and words,
 * or one word, so that the call takes little room in a plan. If several routes have the call, the rule of one of them
 * must allow it. The key later checks the call against the message's own route.
 */
function problemOfCall<C>({ routes }: Plugin<C>, message: Message<C>) {
  const { bytes } = message
  return (answer: Call): string | undefined => {
    const { contract, function: signature, args, value } = answer
    const rules = routes.flatMap(({ calls }) => calls).filter((one) => one.contract === contract && one.function === signature)
    if (rules.length === 0) return 'a call that no route of it has'
    if (!Array.isArray(args)) return 'a call without args'
    let data: string | undefined
    const encoded = () => (data ??= encodeCall(answer))
    const problems = rules.map((rule) => {
      if (rule.proof === 'message') {
        const rest = rule.rest?.length ?? 0
        if (!(args[0] instanceof Uint8Array) || Buffer.compare(args[0], bytes) !== 0)
          return 'a call whose first argument is not the message'
        if (args.length !== 1 + rest) return `a call with ${args.length} instead of ${1 + rest} arguments`
        const beyond = rest === 0 ? undefined : argumentBeyond(rule, encoded(), message)
        if (beyond !== undefined) return `a call whose argument ${beyond} is not the one that its rule allows`
      }
      return value === undefined ? undefined : problemOfValue(value, rule)
    })
    if (!problems.includes(undefined)) return problems[0]
    encoded()
    return undefined
  }
}

function problemOfValue(value: unknown, { coins }: CallRule): string | undefined {
  const wei = typeof value === 'bigint' || typeof value === 'string' ? String(value) : ''
  if (!/^[0-9]{1,78}$/.test(wei)) return 'a value that is no number of wei (a bigint, or decimal digits)'
  if (BigInt(wei) <= BigInt(coins?.atMost ?? 0)) return undefined
  return coins ? `a value of more than the ${coins.atMost} wei of its rule` : 'a value, and its rule has no coins'
}

function problemOfViews(answer: readonly Shown[]): string | undefined {
  if (!Array.isArray(answer) || answer.length === 0 || answer.length > 20) return 'no list of 1 to 20 views'
  let digits = 0
  for (const shown of answer as readonly Shown[]) {
    if (!address.test(shown.contract)) return 'a view whose contract is not an address (0x, lower case)'
    const { data, is } = encodeView(shown)
    digits += data.length + is.length
  }
  return digits / 2 > mostViewBytes ? `views of more than ${mostViewBytes} bytes` : undefined
}

function problemOfNext(stages: readonly string[], now: number) {
  return (answer: Next): string | undefined => {
    const { stage, wait, never, opensAt } = answer as { [Key in 'stage' | 'wait' | 'never' | 'opensAt']?: unknown }
    if (typeof stage === 'string') return stages.includes(stage) ? undefined : 'a stage that it does not have'
    if (opensAt !== undefined && !(Number.isSafeInteger(opensAt) && Number(opensAt) >= 0)) return 'an opensAt that is no number of seconds'
    if (Number(opensAt) > Math.min(now + longestSeconds, lastSecond)) return 'an opensAt that is more than ten years ahead: is it in ms?'
    return [wait, never].some(isText) ? undefined : 'neither stage nor wait nor never'
  }
}

function problemOfParties({ recipient, token, amount }: ReturnType<Plugin<unknown>['parties']>): string | undefined {
  if (!/^0x[0-9a-f]{1,64}$/.test(recipient)) return 'a recipient that is not 0x and lower-case hex digits'
  if (!/^[\w./:-]{1,120}$/.test(token)) return 'a token that is not 1 to 120 letters, digits and . / : _ -'
  return amount === undefined || /^[0-9]{1,78}$/.test(amount) ? undefined : 'an amount that is not a decimal number'
}

function problemOfPolicy(answer: Policy): string | undefined {
  const { accept, wait, decline } = answer as { [Key in 'accept' | 'wait' | 'decline']?: unknown }
  if (accept === true && wait === undefined && decline === undefined) return undefined
  const isReason = accept === undefined && (wait === undefined) !== (decline === undefined) && isText(wait ?? decline)
  return isReason ? undefined : 'none of accept: true, wait and decline (with a reason)'
}

function problemOfEarned(answer: bigint): string | undefined {
  return typeof answer === 'bigint' && answer >= 0n && answer < 2n ** 256n ? undefined : 'no number of wei (a bigint)'
}

function isText(text: unknown): text is string {
  return typeof text === 'string' && text.length <= 500
}

function checkedReverts(reverts: Plugin<unknown>['reverts'] = {}): NonNullable<Plugin<unknown>['reverts']> {
  for (const [selector, { kind, ...more }] of Object.entries(reverts)) {
    const { code, reason } = more as Partial<Extract<RevertMeaning, { code: unknown }>>
    const isMeant = kind === 'delivered' || (['wait', 'permanent', 'unknown'].includes(kind) && isErrorCode(code) && isText(reason))
    if (!/^0x[0-9a-f]{8}$/.test(selector) || !isMeant) throw new Error(`reverts: ${selector} is no selector with a meaning`)
  }
  return reverts
}

export function firstLine(error: unknown, most = 200): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text.split('\n')[0] ?? '').slice(0, most)
}
