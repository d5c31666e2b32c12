import { tokenBridgeMessages } from '../devnet/wormhole/token-bridge-messages.ts'

const emitter = 'bb'.repeat(20).padStart(64, '0')

/** Payload 1 of the token bridge, hex. */
export const goodPayload = `01${'00'.repeat(31)}05${'11'.repeat(32)}0002${'22'.repeat(32)}0004${'00'.repeat(32)}`
/** A payload of NTT, hex. */
export const goodNtt = `9945ff10${'11'.repeat(32)}${'22'.repeat(32)}0091${'33'.repeat(64)}004f994e545408${'00'.repeat(7)}05${'44'.repeat(32)}${'55'.repeat(32)}00040000`
/** A VAA that decodes, without guardians' signatures. */
export const goodVaa = Buffer.from(
  `01000000000100${'ee'.repeat(64)}0065000000000000000002${emitter}${'00'.repeat(7)}0901${goodPayload}`,
  'hex',
)
export const goodPlace = { chain: 2, emitter, sequence: '9' }
export const decodeVaa = tokenBridgeMessages(new Map([[4, 'bsc']])).decode
