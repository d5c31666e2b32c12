import { prefault, z } from 'zod'
import { address, chainName, decimal, listOf, path, sourceName, text, wei, whole } from '../load/values.ts'
import { deliveredViewSchema, emitterStreamSchema, fitsType, messageWord, typesOf, wordType } from './bridge-schema.ts'

const emitter = text(/^[0-9a-f]{64}$/, 'must be an emitter: 64 lower-case hex digits')
const view = text(/^[A-Za-z_$][\w$]*\([\w,()[\]]*\)$/, 'must be a view: name(types)')
const called = text(/^[A-Za-z_$][\w$]*\(\w+(,\w+){0,10}\)$/, 'must be a function: name(types)').refine((signature) => {
  const [first = '', ...rest] = typesOf(signature)
  return first === 'bytes' ? rest.every((type) => wordType.test(type)) : rest.length === 0 && wordType.test(first)
}, 'must be name(bytes), name(bytes,<type>,…), or name(<type>), with types of one word')

const anyBound = "must be { is: '10' }, { is: '$digest' }, { atMost: '100' } or { payload: [from, to] }: values are texts in quotes"
const bounds = [
  z.strictObject({ is: messageWord.describe('The argument: a literal, or a value of the message.') }),
  z.strictObject({ atMost: decimal.describe('Maximum value of the argument, an unsigned number.') }),
  z.strictObject({
    payload: z
      .tuple([whole(0, 999_999), whole(1, 999_999)])
      .refine(([from, to]) => from < to && to - from <= 32, 'must be 1 to 32 bytes: [from, to]')
      .describe(
        'Offsets in the payload, in bytes: the argument is the bytes from the first one up to the second one, which is not included.',
      ),
  }),
] as const
const boundSchema = z.union(bounds, anyBound)

/** As a word, a negative number is large, so an upper limit (`atMost`) fits only unsigned types. */
function fits(bound: z.output<typeof boundSchema>, type: string): boolean {
  if (!wordType.test(type)) return false
  if ('is' in bound) return fitsType(bound.is, type)
  return 'payload' in bound || type.startsWith('uint')
}
const returns = text(/^[\w,()[\]]+$/, 'must be the types of the answer, separated by commas')

const callSchema = z
  .strictObject({
    contract: address.describe('Contract that is called.'),
    function: called.describe(
      'Function of the contract. It takes the signed message, and may take further words (`rest`). Or it takes a single word.',
    ),
    proof: z
      .union([
        z.literal('message'),
        z.strictObject({
          view: view.describe('View of the contract that takes the argument of the call.'),
          returns: returns.describe('Types of its answer.'),
          isNot: z.array(z.unknown()).min(1).describe('A key signs the call unless the view gives this answer. Numbers are texts.'),
        }),
      ])
      .describe(
        "The proof that a key demands before it signs the call. message: the call's first argument is a signed message of this route. A map: the answer of a view of the contract.",
      ),
    rest: z
      .array(boundSchema)
      .min(1)
      .optional()
      .describe(
        'One bound for each argument that follows the signed message, in their order. A key does not sign other arguments. Absent: the message is the only argument.',
      ),
    coins: z
      .strictObject({
        atMost: wei.describe('Maximum amount of coins in a call. A key does not sign a call with more coins.'),
        delivered: deliveredViewSchema.describe(
          'The view that shows that the call was made. After this call, a key does not sign another call with coins for the message.',
        ),
      })
      .optional()
      .describe('Coins that the call may carry, which the lane pays. Only with the proof `message`. Absent: the call carries no coins.'),
  })
  .refine(({ proof, coins }) => coins === undefined || proof === 'message', 'may have coins only if a message proves it')
  .refine(
    ({ function: name, proof }) => (proof === 'message') === (typesOf(name)[0] === 'bytes'),
    'must take bytes if a message proves it, and a word if not',
  )
  .refine(({ function: name, rest = [] }) => {
    const types = typesOf(name).slice(1)
    return types.length === rest.length && rest.every((bound, index) => fits(bound, types[index] ?? ''))
  }, 'must have one bound of the right type in `rest` for each argument that follows the message')

const pluginRouteSchema = z.strictObject({
  from: listOf(
    z.strictObject({ source: sourceName.describe('Source chain.'), emitter: emitter.describe('Emitter, 64 hex digits.') }),
    1,
    1_000,
  ).describe('Emitters of the messages.'),
  where: z
    .record(
      text(/^(0|[1-9][0-9]{0,5})$/, 'must be an offset in bytes'),
      text(/^([0-9a-f]{2}){1,64}$/, 'must be 1 to 64 bytes in hex: lower case, without 0x'),
    )
    .optional()
    .describe('Offset in the payload, in bytes → the bytes at this offset. All pairs must match.'),
  to: chainName.describe('Target chain.'),
  calls: listOf(callSchema, 1, 50).describe('The only calls that keys sign for these messages.'),
})

export const pluginRoutesSchema = listOf(pluginRouteSchema, 1, 1_000)

export const pluginName = text(
  /^[a-z][a-z0-9-]{1,39}$/,
  'must be 2 to 40 lower-case letters, digits and -, and begin with a letter',
).refine(
  (name) => !['wormhole', 'wormhole-token-bridge', 'native-bridge', 'receivers', 'ntt', 'executor', 'cctp', 'plugins'].includes(name),
  'is the name of a part of Portage',
)

export const pluginsSchema = z.record(
  pluginName,
  z.strictObject({
    module: path.describe('File of the plug-in, relative to the config file.'),
    sha256: text(/^[0-9a-f]{64}$/, 'must be a SHA-256: 64 lower-case hex digits').describe(
      'SHA-256 of the file. A file with another SHA-256 is not loaded.',
    ),
    settings: prefault(z.record(z.string(), z.unknown()), {}).describe('Settings of the plug-in, by the names in its documentation.'),
    free: z
      .literal(true)
      .optional()
      .describe(
        'Portage delivers all messages, whatever their fees are worth: your lanes pay for gas. Absent: the plug-in says what a fee is worth (`earned`), and a message waits (FEE_BELOW_COST) while this is less than its call costs.',
      ),
    routes: pluginRoutesSchema.describe('The messages that the plug-in delivers, and the calls that keys sign for these messages.'),
    stream: prefault(emitterStreamSchema, {}).describe('Settings of the streams of the emitters of this plug-in.'),
  }),
)
