/** A function that a test must never call. It throws an error with its name. */
export const unused = (name: string) => (): never => {
  throw new Error(`${name} is not part of this test`)
}

/** The parts of a chain that tests of views and calls do not use. */
export const noLogs = { heads: { current: undefined }, logs: unused('logs'), transactionSender: unused('transactionSender') }
