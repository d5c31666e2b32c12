import type { ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'

/**
 * Remedies in place of those of the catalogue that name the doctor itself. A test holds that no other code of the
 * catalogue leads back here.
 */
const here: Partial<Record<ErrorCode, string>> = {
  NODE_UNAVAILABLE:
    'Check that the node runs and that its url in the config is right (host, port, path, key): it must answer eth_chainId, a POST of JSON, from this machine. Until then name another node in `nodes` of the chain, or portage node add.',
  NODES_DISAGREE:
    'Compare the nodes above with a block explorer: portage node disable the one that is behind or wrong, and remove dead ones from the config.',
  SIGNER_OFFLINE:
    'Check that the remote signer or AWS KMS answers from this machine, and that it allows this process to use the key (credentials, policy). Its log may say more.',
}

export function remedyOf({ code, remedy }: Pick<RelayerError, 'code' | 'remedy'>): string {
  return here[code] ?? remedy
}
