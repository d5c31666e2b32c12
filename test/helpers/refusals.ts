import { RelayerError } from '../../domain/catalogue/errors.ts'

/** The code that a call is refused with, `none` if it is not. Anything else that is thrown is thrown on: a refusal has a code. */
export function codeOf(call: () => unknown): string {
  try {
    call()
    return 'none'
  } catch (error) {
    return coded(error)
  }
}

/** The same of a call that answers later. */
export async function codeOfAsync(call: () => Promise<unknown>): Promise<string> {
  try {
    await call()
    return 'none'
  } catch (error) {
    return coded(error)
  }
}

function coded(error: unknown): string {
  if (error instanceof RelayerError) return error.code
  throw error
}
