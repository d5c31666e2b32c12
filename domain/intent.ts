/** The call that is wanted. It has no nonce and no fee. */
export interface Intent {
  /** 0x address, lower case. */
  readonly to: string
  /** 0x hex. */
  readonly data: string
  /** wei, decimal. */
  readonly value: string
}
