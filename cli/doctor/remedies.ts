import type { ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'

/**
 * What the doctor advises instead of the catalogue, where that names the doctor itself: an act outside of it. A test holds that no other code of the catalogue
 * leads back here.
 */
const here: Partial<Record<ErrorCode, string>> = {
  NODE_UNAVAILABLE:
    'See whether the node runs, and whether its url in the config is right (host, port, path, key): from this machine it must answer eth_chainId, a POST of JSON. Until then name another node in `nodes` of the chain, or portage node add.',
  NODES_DISAGREE:
    'Compare the nodes above with a block explorer: portage node disable the one that is behind or wrong, and take dead ones out of the config.',
  SIGNER_OFFLINE:
    'See whether the remote signer or AWS KMS answers from this machine, in its own log too, and whether it lets this process use the key (credentials, policy).',
}

/** The remedy of an error that a check met. */
export function remedyOf({ code, remedy }: Pick<RelayerError, 'code' | 'remedy'>): string {
  return here[code] ?? remedy
}
