export const unused = (name: string) => (): never => {
  throw new Error(`${name} is not part of this test`)
}

export const noLogs = { heads: { current: undefined }, logs: unused('logs'), transactionSender: unused('transactionSender') }
