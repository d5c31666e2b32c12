import { chainFamilies } from '../../chains/registry.ts'
import type { SigningPolicy } from '../../chains/signing-port.ts'
import type { ChainConfig, LaneSettings } from '../../config/schema/schema.ts'
import { signingLimits } from '../../config/chains.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { type Finding, warn } from './check.ts'

/** Signs a no-op that is never sent: an existing key may refuse. Throws what opening and signing throw. */
export async function checkKey(chain: Pick<ChainConfig, 'family' | 'networkId' | 'signing'>, lane: LaneSettings): Promise<Finding> {
  const { address, signer: spec } = lane
  if (!spec) return 'not on this machine'
  const policy = { ...noopsOnly, limits: signingLimits(chain), lane: laneId(chain.family, chain.networkId, address) }
  const signer = await chainFamilies[chain.family].createSigner(spec, address, policy)
  // Nonce 0 at 1 wei per gas: no node takes it. The signed bytes never leave this function.
  const noop = { to: signer.address, data: '0x', value: '0', gasLimit: '21000' }
  await signer.sign({ ...noop, networkId: String(chain.networkId), nonce: 0, maxFee: '1', tip: '0' })
  return keyFindings[spec.kind]
}

export const noopsOnly: Omit<SigningPolicy, 'limits' | 'lane'> = {
  calls: {},
  operatorCalls: {},
  coinPayees: [],
  tokens: [],
  tokenPayees: [],
  proveCall: () => Promise.resolve(),
  dataFee: () => Promise.resolve('0'),
  fieldOf: (what) => what,
}

/** `0x` and 8 digits. */
const selectorLength = 10

/** Signed for operators without a proof. Undefined: none. */
export function operatorCallsFinding({ operatorCalls = {} }: Pick<LaneSettings, 'operatorCalls'>): Finding | undefined {
  const calls = Object.entries(operatorCalls).flatMap(([contract, starts]) => starts.map((start) => ({ contract, start })))
  const open = calls.filter(({ start }) => start.length === selectorLength)
  if (calls.length === 0) return undefined
  if (open.length === 0) return `${calls.length}, each with its first arguments`
  const named = open.map(({ contract, start }) => `${start} of ${contract}`).join(', ')
  return warn(
    `with any arguments: ${named}; nothing proves them, and any user who reaches Temporal can have them signed`,
    'List the first arguments after the selector, as far as they never change (docs/operate/signers.md), or remove unused calls.',
  )
}

const keyFindings: Record<NonNullable<LaneSettings['signer']>['kind'], Finding> = {
  keystore: 'the keystore opens, belongs to this address, and signs',
  remote: 'the remote signer answers, has the key of this address, and signs',
  'aws-kms': 'AWS KMS answers, its key belongs to this address, and signs',
  environment: warn(
    'the key is in an environment variable; it signs',
    'For anything of value: portage keystore import, a remote signer or AWS KMS.',
  ),
}
