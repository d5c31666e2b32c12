/** `is`: the call's answer once the effect exists, hex with 0x in lower case. */
export interface ViewCall {
  readonly to: string
  readonly data: string
  readonly is: string
}

/**
 * The call of a round and its effect, as plain data, because a process with a key does not run the code of a plug-in
 * package.
 */
export interface CallPlan {
  readonly to: string
  /** Signature `name(bytes,…)`. Its first argument is the signed message, which the history already contains. */
  readonly function?: string
  /** The further arguments, hex: 64 digits each. Absent: none. */
  readonly rest?: string
  /** The calldata of a call that carries no message. */
  readonly data?: string
  /** Coins that the call carries, wei. Absent: none. */
  readonly value?: string
  readonly effect: readonly ViewCall[]
  /** The effect of the whole transfer. Absent: the same as `effect`. */
  readonly delivered?: readonly ViewCall[]
  readonly recipient: string
  readonly token: string
  readonly revertsOnceDone?: true
}
