import type { LaneId } from '../domain/lane/lane.ts'
import type { ChainConfig, Config } from './schema/schema.ts'

/** Network id → name of the coin, as in viem and ethereum-lists/chains. All of these coins have 18 decimals. */
const known: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ETH: [
      1, 10, 130, 324, 480, 1101, 1135, 1868, 2741, 4326, 4663, 7560, 8453, 34443, 42161, 42170, 57073, 59144, 60808, 81457, 167000, 534352,
      7777777, 1313161554, 300, 560048, 1301, 4801, 6343, 17000, 59141, 84532, 421614, 534351, 763373, 11155111, 11155420,
    ],
    RBTC: [30],
    TLOS: [40],
    XDC: [50],
    BNB: [56, 97, 204],
    XDAI: [100],
    POL: [137, 80002],
    MON: [143, 10143],
    S: [146],
    OKB: [196],
    FTM: [250],
    HBAR: [295],
    FIL: [314],
    FLOW: [747],
    HYPE: [998, 999],
    CFX: [1030],
    METIS: [1088],
    GLMR: [1284],
    MOVR: [1285],
    SEI: [1328, 1329],
    RON: [2020],
    KAVA: [2222],
    MNT: [5000],
    USDC: [5042, 5042002],
    KAIA: [1001, 8217],
    XPL: [9745, 9746],
    BTC: [31611, 31612],
    APE: [33139],
    CELO: [42220],
    AVAX: [43113, 43114],
    BERA: [80069, 80094],
    PLUME: [98866, 98867],
  }).flatMap(([coin, networks]) => networks.map((id) => [String(id), coin] as const)),
)

export function coinOf({ chains }: Pick<Config, 'chains'>, networkId: string | number): string | undefined {
  const named = Object.values(chains).find((chain) => String(chain.networkId) === String(networkId))?.coin
  return named ?? known.get(String(networkId))
}

export function coinOfLane(config: Pick<Config, 'chains'>, lane: LaneId): string | undefined {
  return coinOf(config, /^[a-z]+-([0-9]+):/.exec(lane)?.[1] ?? '')
}

export function coinOfChain(config: Pick<Config, 'chains'>, name: string): string | undefined {
  const chain = Object.hasOwn(config.chains, name) ? config.chains[name] : undefined
  return chain && coinOf(config, chain.networkId)
}

/** Network id → block explorer, from Wormhole's SDK (constants/explorer). A test compares this table with the SDK. */
export const knownExplorers: Readonly<Record<string, string>> = {
  '1': 'https://etherscan.io/',
  '56': 'https://bscscan.com/',
  '137': 'https://polygonscan.com/',
  '143': 'https://monadexplorer.com/',
  '999': 'https://hyperevmscan.io/',
  '1284': 'https://moonscan.io/',
  '2288': 'https://scan.mocachain.org/',
  '4217': 'https://explore.tempo.xyz/',
  '4326': 'https://megaeth.blockscout.com/',
  '4663': 'https://robinhoodchain.blockscout.com/',
  '9745': 'https://plasmascan.to/',
  '16661': 'https://chainscan.0g.ai/',
  '31612': 'https://explorer.mezo.org/',
  '42220': 'https://explorer.celo.org/mainnet/',
  '43114': 'https://snowtrace.io/',
  '57073': 'https://explorer.inkonchain.com/',
  '98866': 'https://explorer.plume.org/',
  '97': 'https://testnet.bscscan.com/',
  '6343': 'https://megaeth-testnet-v2.blockscout.com/',
  '43113': 'https://testnet.snowtrace.io/',
  '98867': 'https://testnet-explorer.plume.org/',
}

export function explorerOf({ networkId, explorer }: Pick<ChainConfig, 'networkId' | 'explorer'>): string | undefined {
  return explorer ?? knownExplorers[String(networkId)]
}
