import type { Parties } from '../../bridges/port.ts'
import { assertSettingsOrders } from '../../domain/settings/request.ts'
import { applySettingsOrders, denialOf, noSettings } from '../../domain/settings/settings.ts'

/** The codes with which denials of recipient and token decline a transfer. Throws if an order is refused. */
export function codesOfDenials({ targetChain, recipient, token }: Pick<Parties, 'targetChain' | 'recipient' | 'token'>) {
  return [['recipient', recipient] as const, ['token', token] as const].map(([what, value]) => {
    const request = { by: 'ops', reason: 'hacked', orders: [{ kind: 'deny' as const, what, value }] }
    assertSettingsOrders(request)
    return denialOf(applySettingsOrders(noSettings, request, 1), { targetChain, recipient, token })?.code
  })
}
