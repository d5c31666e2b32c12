import type { Revert } from '../../chains/port.ts'
import type { RevertMeaning } from '../port.ts'

const impossible = { kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE' } as const

/** Revert texts of MessageTransmitter, MessageTransmitterV2, TokenMessengerV2, TokenMinter and Pausable. */
const meanings: Readonly<Record<string, { readonly kind: 'delivered' } | Omit<Extract<RevertMeaning, { code: unknown }>, 'reason'>>> = {
  'Nonce already used': { kind: 'delivered' },
  'Pausable: paused': { kind: 'wait', code: 'BRIDGE_PAUSED' },
  'Message expired and must be re-signed': { kind: 'wait', code: 'CCTP_EXPIRED' },
  'Invalid attestation length': { kind: 'wait', code: 'CCTP_ATTESTATION' },
  'Invalid signature: not attester': { kind: 'wait', code: 'CCTP_ATTESTATION' },
  'Invalid signature order or dupe': { kind: 'wait', code: 'CCTP_ATTESTATION' },
  // Another lane may be allowed to deliver the message.
  'Invalid caller for message': { kind: 'wait', code: 'CCTP_CALLER' },
  // Circle may still link the token and the remote messenger.
  'Mint token not supported': { kind: 'wait', code: 'DELIVERY_REVERTED' },
  'Remote TokenMessenger unsupported': { kind: 'wait', code: 'DELIVERY_REVERTED' },
  'Local minter is not set': { kind: 'wait', code: 'DELIVERY_REVERTED' },
  'Invalid destination domain': impossible,
  'Invalid message version': impossible,
  'Invalid message body version': impossible,
  'Fee equals or exceeds amount': impossible,
  'Fee exceeds max fee': impossible,
}

export function explainRevert({ reason }: Revert): RevertMeaning {
  const meaning = meanings[reason] ?? { kind: 'unknown', code: 'DELIVERY_REVERTED' }
  return meaning.kind === 'delivered' ? meaning : { ...meaning, reason }
}
