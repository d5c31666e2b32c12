/** A view call, and its answer once the effect is there. 0x, lower case. */
export interface ViewCall {
  readonly to: string
  readonly data: string
  readonly is: string
}

/** A call and its effect as data, for a process with a key: it runs no code of a plug-in package. */
export interface CallPlan {
  readonly to: string
  /** `name(bytes)`. Its argument is the signed message, which a history has anyway. */
  readonly function?: string
  /** The calldata, if it has no message. */
  readonly data?: string
  readonly effect: readonly ViewCall[]
  /** Effect of the whole transfer. Absent: the same. */
  readonly delivered?: readonly ViewCall[]
  readonly recipient: string
  readonly token: string
  readonly revertsOnceDone?: true
}
