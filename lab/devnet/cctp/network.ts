import type { CctpCheckInput } from '../../checker/cctp.ts'
import { devnetAttesters } from '../chain/accounts.ts'
import type { ConfigInput } from '../relayer-config.ts'
import type { WormholeChain } from '../wormhole/wormhole.ts'
import type { FastTerms } from './attestations.ts'
import { type CctpUsers, startCctpUsers } from './cctp-users.ts'
import { type CctpEnd, deployCctp } from './cctp.ts'
import { type Iris, startIris } from './iris.ts'

export interface CctpNetwork {
  readonly ends: { readonly ethereum: CctpEnd; readonly bsc: CctpEnd }
  readonly users: { readonly ethereum: CctpUsers; readonly bsc: CctpUsers }
  readonly iris: Iris
  readonly config: NonNullable<ConfigInput['bridges']['cctp']>
  stop(): Promise<void>
}

export interface CctpNetworkOptions extends FastTerms {
  readonly port?: number
  readonly log?: (line: string) => void
  /**
   * If true, Portage delivers the burns of `users` for free, and other burns only if a request pays for them. Default:
   * all burns are free.
   */
  readonly paid?: boolean | undefined
}

/** Circle's domains of Ethereum and Base. */
const domains = { ethereum: 0, bsc: 6 } as const

/** Starts CCTP with two attesters, who must both sign. Each user owns a billion dollars. */
export async function startCctpNetwork(
  chains: { readonly ethereum: WormholeChain; readonly bsc: WormholeChain },
  { paid = false, ...options }: CctpNetworkOptions = {},
): Promise<CctpNetwork> {
  const attesters = devnetAttesters(2)
  const plans = (['ethereum', 'bsc'] as const).map((name) => ({ name, anvil: chains[name].anvil, domain: domains[name] }))
  const [ethereum, bsc] = (await deployCctp(plans, { attesters })) as [CctpEnd, CctpEnd]
  const iris = await startIris([ethereum, bsc], { attesters, ...options })
  return {
    ends: { ethereum, bsc },
    users: { ethereum: startCctpUsers(ethereum, bsc), bsc: startCctpUsers(bsc, ethereum) },
    iris,
    config: {
      ...{ attestationApis: [iris.url], requestsPerSecond: 200 },
      ...(paid ? { senders: [ethereum.user.address, bsc.user.address] } : { free: true as const }),
      chains: Object.fromEntries([ethereum, bsc].map((end) => [end.name, { domain: end.domain, ...contractsOf(end), startBlock: 0 }])),
    },
    stop: iris.stop,
  }
}

function contractsOf({ contracts }: CctpEnd) {
  const of = ({ transmitter, messenger }: CctpEnd['contracts'][1]) => ({ messageTransmitter: transmitter, tokenMessenger: messenger })
  return { v1: of(contracts[1]), v2: of(contracts[2]) }
}

export function cctpPlaces({ ends }: CctpNetwork): CctpCheckInput['ends'] {
  const place = ({ domain, token, contracts }: CctpEnd) =>
    ({ domain, token, transmitters: [contracts[1].transmitter, contracts[2].transmitter] }) as const
  return Object.fromEntries(Object.values(ends).map((end) => [end.name, place(end)]))
}
