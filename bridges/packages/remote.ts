import { deserialize } from 'node:v8'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Call, Message, Next, Plugin, Policy, Route, Shown, SignedMessage } from '../kit/plugin.ts'
import { failed, firstLine, mostViewBytes } from './guard.ts'
import type { PluginThread } from './thread.ts'
import type { Answer } from './thread-run.ts'

/** The object that `create` of a package made, with the text `function` in place of functions. */
export interface Made {
  readonly routes: unknown
  readonly reverts: Plugin<unknown>['reverts']
  readonly stages: Readonly<Record<string, { readonly call: string; readonly effect: string; readonly revertsOnceDone: unknown }>>
  readonly decode: string
  readonly delivered: string
  readonly parties: string
  readonly policy: string
  readonly earned: string
  readonly next: string
}

/** The answers of all functions but `next` about a message. */
interface Described {
  readonly route: number
  readonly answers: ReadonlyMap<string, Answer>
}

/** Maximum bytes of a list of views as it leaves the thread. Every list that the guard allows is shorter. */
const mostListBytes = 4 * mostViewBytes

/** Replaces a list that is too long with a failure, so that the list is not kept. */
function shortened([part, answer]: readonly [string, Answer]): readonly [string, Answer] {
  const isList = part === 'delivered' || part.endsWith('.effect')
  if (!isList || 'failed' in answer || answer.bytes.length <= mostListBytes) return [part, answer]
  return [part, { failed: `returned views of more than ${mostViewBytes} bytes` }]
}

/** Throws Error if a part is missing or has the wrong type. */
export function demandParts({ decode, delivered, parties, policy, earned, next, stages }: Made): void {
  for (const [part, kind] of Object.entries({ decode, delivered, parties, policy, earned, next })) {
    const isAbsent = kind === 'undefined' && !['decode', 'delivered'].includes(part)
    if (kind !== 'function' && !isAbsent) throw new Error(`${part} is no function`)
  }
  const named = Object.entries(stages)
  if (named.length === 0) throw new Error('it has no stages')
  for (const [stage, { call, effect, revertsOnceDone }] of named)
    if (call !== 'function' || !['function', 'undefined'].includes(effect) || typeof revertsOnceDone !== 'boolean')
      throw new Error(`the stage ${stage} needs call and revertsOnceDone`)
}

/**
 * A plug-in whose functions run in a thread. One request to the thread runs `decode` and, for a message that it takes,
 * all other functions except `next`. Their answers become the message's `content`. `policy`, `earned` and functions
 * that failed are asked again when needed. The functions of the plug-in throw PLUGIN_FAILED, and `next` also read
 * errors.
 */
export function remotePlugin(name: string, made: Made, routes: readonly Route[], thread: PluginThread): Plugin<unknown> {
  const answer = (part: string, answers: Described['answers']): unknown => {
    const found = answers.get(part)
    if (found && 'bytes' in found) return deserialize(found.bytes)
    throw failed(name, `${part} ${found?.failed ?? 'did not answer'}`)
  }
  function describe(message: SignedMessage, route: number): Described['answers'] {
    try {
      return new Map([...thread.describe(message, route)].map(shortened))
    } catch (error) {
      throw failed(name, firstLine(error), error)
    }
  }
  const part = (key: string, message: Message<unknown>) => {
    const { route, answers } = message.content as Described
    const found = answers.get(key)
    // A failure is not kept with the message: the function runs again.
    return answer(key, found && 'failed' in found ? describe(message, route) : answers)
  }
  /** Asks again, because the answer may change. */
  const now = (key: string, { content, ...message }: Message<unknown>) => answer(key, describe(message, (content as Described).route))
  const stages = Object.entries(made.stages).map(([stage, { effect, revertsOnceDone }]) => {
    const call = (message: Message<unknown>) => part(`stages.${stage}.call`, message) as Call
    const shown = (message: Message<unknown>) => part(`stages.${stage}.effect`, message) as readonly Shown[]
    return [stage, { call, ...(effect === 'function' && { effect: shown }), revertsOnceDone: revertsOnceDone === true }] as const
  })
  return {
    name,
    routes,
    decode(message, one) {
      const route = routes.indexOf(one)
      const answers = describe(message, route)
      return answer('decode', answers) === true ? ({ route, answers } satisfies Described) : undefined
    },
    stages: Object.fromEntries(stages),
    ...(made.next === 'function' && {
      async next(message, target) {
        try {
          return (await thread.next(message, (message.content as Described).route, target)) as Next
        } catch (error) {
          if (error instanceof RelayerError) throw error
          throw failed(name, firstLine(error), error)
        }
      },
    }),
    delivered: (message) => part('delivered', message) as readonly Shown[],
    ...(made.reverts && { reverts: made.reverts }),
    parties(message) {
      if (made.parties === 'function') return part('parties', message) as ReturnType<Plugin<unknown>['parties']>
      const { emitterChain, emitter, content } = message
      const { contract = '' } = routes[(content as Described).route]?.calls[0] ?? {}
      return { recipient: contract, token: `${emitterChain}/${emitter}` }
    },
    ...(made.policy === 'function' && { policy: (message) => now('policy', message) as Policy }),
    ...(made.earned === 'function' && { earned: (message) => now('earned', message) as bigint }),
    retry: (digest, orderedAt) => thread.retry(digest, orderedAt),
    bytesOf: (content) =>
      [...(content as Described).answers.values()].reduce((sum, one) => sum + ('bytes' in one ? one.bytes.length : one.failed.length), 0),
  }
}
