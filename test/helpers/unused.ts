/** A function of an interface that a test must not reach. It throws its name. */
export const unused = (name: string) => (): never => {
  throw new Error(`${name} is not part of this test`)
}

/** The parts of a chain for tests of views and calls. */
export const noLogs = { heads: { current: undefined }, logs: unused('logs'), transactionSender: unused('transactionSender') }
