// @ts-check
import { plugin, z } from 'portage/plugin'

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase()
const executeVAA = 'executeVAAv1(bytes)'

export default plugin({
  name: 'my-plugin',
  version: '0.1.0',
  kit: 1,

  // The operator's settings. `source` and `target` are names of chains in the config.
  settings: z.strictObject({ source: z.string(), sender: address, target: z.string(), contract: address }),

  create({ source, sender, target, contract }) {
    // Wormhole's form of an address: 64 hex digits.
    const emitter = sender.slice(2).padStart(64, '0')
    return {
      // The messages of this plug-in, and the only calls that a key signs for them.
      routes: [{ from: [{ source, emitter }], to: target, calls: [{ contract, function: executeVAA, proof: 'message' }] }],

      // Returns the content of a message. Undefined: not a message of this plug-in.
      decode: ({ payload }) => (payload.length > 0 ? { bytes: payload.length } : undefined),

      stages: {
        deliver: {
          call: ({ bytes }) => ({ contract, function: executeVAA, args: [bytes] }),
          // Whether the contract reverts a second call.
          revertsOnceDone: true,
        },
      },

      // The view that shows whether the message has arrived, and the view's answer if it has.
      delivered: ({ digest }) => [{ contract, view: 'isReceived(bytes32)', args: [digest], returns: 'bool', is: [true] }],

      // With `earned: (message) => <wei>`, a message waits while its fee is worth less than its call costs. Without
      // `earned`, the config must say `free: true`. With `policy`, the plug-in can decline messages, or make them wait.

      // Optional: recipient and token, for deny-lists and for lists of transfers.
      parties: () => ({ recipient: contract, token: `${source}/${sender}` }),
    }
  },
})
