/** Content of a message, for people. No decision depends on it. */
export interface TransferContent {
  /** Decimal, in the units of the message. Token bridge: at most 8 decimals. Native bridge: the smallest unit. */
  readonly amount: string
  /** As in the asset list: `<chain id>/<64 hex digits>`. */
  readonly token: string
  /** Lower-case 0x address on the target chain. */
  readonly recipient: string
}

/** `sourceTxHash`: transaction on the source chain. Absent if the transfer came from a guardian spy. */
export type KnownContent = Partial<TransferContent> & { readonly sourceTxHash?: string }

const digits = /^[0-9]{1,78}$/
const word = /^[\w./:-]{1,120}$/
const shapes = { amount: digits, token: word, recipient: word, sourceTxHash: word } as const satisfies Record<keyof KnownContent, RegExp>

/** Leaves out every field of another shape, because anyone with access to Temporal can write a memo. */
export function contentIn(memo: unknown): KnownContent {
  const given = Object(memo) as Readonly<Record<string, unknown>>
  const known = Object.entries(shapes).flatMap(([name, shape]) => {
    const value = given[name]
    return typeof value === 'string' && shape.test(value) ? [[name, value]] : []
  })
  return Object.fromEntries(known) as KnownContent
}
