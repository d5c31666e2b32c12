/** Network id → block explorer, from Wormhole's SDK (constants/explorer). A test compares the two. */
const known: Readonly<Record<string, string>> = {
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

/** Base URL of a chain's block explorer, to which `tx/<hash>` or `address/<address>` is added. Undefined: unknown. */
export function explorerOf({
  networkId,
  explorer,
}: {
  readonly networkId: number
  readonly explorer?: string | undefined
}): string | undefined {
  return explorer ?? known[String(networkId)]
}

/** For the test. */
export const knownExplorers = known
