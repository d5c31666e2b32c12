import { RelayerError } from '../../domain/catalogue/errors.ts'

/** The code with which a call is refused, `none` if it is not. Errors without a code are thrown on. */
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
