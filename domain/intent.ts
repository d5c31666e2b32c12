/** The call to make, without nonce and fee. */
export interface Intent {
  /** 0x address, lower case. */
  readonly to: string
  /** 0x hex. */
  readonly data: string
  /** wei, decimal. */
  readonly value: string
}
