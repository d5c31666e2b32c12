/** A view call, and the answer that it has once the effect is there. 0x, lower case. */
export interface ViewCall {
  readonly to: string
  readonly data: string
  readonly is: string
}

/**
 * A call and its effect as data. A process with a key works by this plan, because it runs no code of a plug-in package.
 */
export interface CallPlan {
  readonly to: string
  /** Signature `name(bytes)`. The argument is the signed message, which is in the history anyway. */
  readonly function?: string
  /** The calldata of a call that carries no message. */
  readonly data?: string
  readonly effect: readonly ViewCall[]
  /** The effect of the whole transfer. Absent: the same as `effect`. */
  readonly delivered?: readonly ViewCall[]
  readonly recipient: string
  readonly token: string
  readonly revertsOnceDone?: true
}
