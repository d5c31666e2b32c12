import type { SigningLimits, SigningPolicy } from '../../chains/signing-port.ts'
import { signingLimitsSchema } from '../../config/schema/lane-schema.ts'
import { signingLimits } from '../../config/chains.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { temporaryFolder } from './folders.ts'

export const defaultLimits: SigningLimits = signingLimits({ signing: signingLimitsSchema.parse({}) })

/** A policy that allows only no-ops, unless a test extends it. */
export function testPolicy({
  limits,
  ...own
}: Partial<Omit<SigningPolicy, 'limits'>> & { limits?: Partial<SigningLimits> } = {}): SigningPolicy {
  return {
    calls: {},
    paidCalls: {},
    openCalls: {},
    operatorCalls: {},
    payees: [],
    otherLanes: [],
    topUps: false,
    tokens: [],
    proveCall: () => Promise.resolve([]),
    settings: () => noSettings,
    packages: new Set(),
    finalNonce: () => Promise.resolve(0),
    dataFee: () => Promise.resolve('0'),
    spendingFolder: own.spendingFolder ?? temporaryFolder(),
    lane: laneId('evm', 31_337, `0x${'11'.repeat(20)}`),
    fieldOf: (what) => `chains.test.signing.${what}`,
    ...own,
    limits: { ...defaultLimits, ...limits },
  }
}
