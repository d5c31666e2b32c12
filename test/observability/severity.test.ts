import { expect, test } from 'vitest'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import { asLogged } from '../../observability/severity.ts'

const levelOf = (code: ErrorCode) => asLogged(new RelayerError(code), undefined).level

test('outages of the catalogue are logged as warnings, whatever their names', () => {
  for (const code of ['SPY_UNAVAILABLE', 'TEMPORAL_TLS', 'LANE_UNREACHABLE', 'NODES_DISAGREE', 'SIGNING_REFUSED'] as const)
    expect([code, levelOf(code)]).toEqual([code, 'warn'])
  // Only commands throw these errors, and each command shows its error to the user.
  for (const code of ['ARCHIVE_UNAVAILABLE', 'API_UNAVAILABLE', 'INPUT_INVALID'] as const)
    expect([code, levelOf(code)]).toEqual([code, 'debug'])
})
