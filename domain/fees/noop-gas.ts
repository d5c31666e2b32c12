/** The most gas that a no-op is signed with. No chain asks for more to move nothing. */
export const mostNoopGas = 5_000_000n
