import { type RelayerError, toRelayerError } from '../../../domain/catalogue/errors.ts'
import { fromTemporal, isForAll } from '../connection/errors.ts'

/**
 * The row that `read` makes of a workflow's state or, if the workflow does not answer, the row `instead`. Anyone with
 * access to Temporal can forge the state, which must not hide the other rows of the list: without a `problem`, the row
 * does not fit the schema. Throws errors that concern every row.
 */
export async function rowOf<Row, Other>(
  schema: { safeParse(this: void, row: unknown): { readonly success: boolean } },
  read: () => Promise<Row>,
  instead: (problem?: RelayerError) => Other,
): Promise<Row | Other> {
  try {
    const row = await read()
    return schema.safeParse(row).success ? row : instead()
  } catch (error) {
    if (isForAll(error)) throw fromTemporal(error, {})
    return instead(toRelayerError(error))
  }
}
