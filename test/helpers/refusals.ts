import { RelayerError } from '../../domain/catalogue/errors.ts'

/** The code of a call's refusal; `none` if it is not refused. Rethrows errors without a code. */
export function codeOf(call: () => unknown): string {
  try {
    call()
    return 'none'
  } catch (error) {
    return coded(error)
  }
}

/** The same for a call that answers later. */
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
