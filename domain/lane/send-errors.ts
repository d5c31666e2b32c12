/** Each class has one reaction (docs/ARCHITECTURE.md, "Answers of nodes, and the reactions"). */
export const sendErrorClasses = [
  'nonce-too-low',
  'already-known',
  'own-nonce-used',
  'replacement-underpriced',
  'underpriced',
  'nonce-too-high',
  'pool-limit',
  'insufficient-funds',
  'fee-cap',
  'fatal',
  'terminally-stuck',
  'ambiguous',
] as const

export type SendErrorClass = (typeof sendErrorClasses)[number]
