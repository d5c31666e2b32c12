import { adviceOf, type ChainAdvice, type KnownChain, type Network } from './networks.ts'

const passwordVariable = 'PORTAGE_KEYSTORE_PASSWORD'

/** Sources of the URLs: sdk/mainnet_consts.go of wormhole-foundation/wormhole, and the SDK's config for Wormholescan */
const apis = {
  mainnet: {
    guardians: [
      'https://wormhole-v2-mainnet-api.mcf.rocks',
      'https://wormhole-v2-mainnet-api.chainlayer.network',
      'https://wormhole-v2-mainnet-api.staking.fund',
      'https://guardian.mainnet.xlabs.xyz',
    ],
    wormholescan: 'https://api.wormholescan.io',
  },
  testnet: { guardians: [], wormholescan: 'https://api.testnet.wormholescan.io' },
} as const satisfies Record<Network, { guardians: readonly string[]; wormholescan: string }>

export function variablesOf(chains: readonly KnownChain[]): Readonly<Record<string, string>> {
  const urls = chains.map((chain) => [urlVariable(chain), `URL of a JSON-RPC node of ${chain.name} (EIP-155 chain id ${chain.networkId})`])
  return Object.fromEntries([...urls, [passwordVariable, 'the password of the key files']])
}

export function keystoreOf({ name }: KnownChain): string {
  return `keystore/${name}-1.json`
}

export function configText(network: Network, chains: readonly KnownChain[]): string {
  return [
    '# yaml-language-server: $schema=portage.schema.json',
    `# Made by \`portage init\` for ${network}, from the tables of the Wormhole SDK. \${NAME} is the environment variable of that name.`,
    '# FILL IN marks values that you decide. Then run: portage config check, portage doctor.',
    '# All fields: docs/reference/config.md. For completion in an editor: portage config schema > portage.schema.json',
    '',
    '# Data that must outlive Temporal: keep it on a disk that Temporal does not use, and back it up. Created at first use.',
    'dataFolder: portage-data',
    '',
    '# A user who reaches Temporal can stop deliveries: docs/operate/temporal/server.md, "Who may reach Temporal?". TEMPORAL_* variables override this file.',
    'temporal:',
    '  address: 127.0.0.1:7233',
    '  namespace: default # portage setup temporal creates it, with its search attributes',
    '',
    'chains:',
    ...chains.flatMap((chain) => chainLines(chain, adviceOf(chain))),
    ...bridgeLines(network, chains),
    '# Orders and reads over HTTP, with access tokens: docs/operate/access.md.',
    'api:',
    '  host: 127.0.0.1',
    '  port: 8099',
    '',
    '# /healthz, /readyz and /metrics of each process; 0: any free port; the log names it.',
    'admin:',
    '  host: 127.0.0.1',
    '  port: 0',
    '',
  ].join('\n')
}

function chainLines(chain: KnownChain, { finality, feeModel, blockTimeMs, source }: ChainAdvice): string[] {
  const { name, networkId, wormholeChainId, core, tokenBridge } = chain
  const time = blockTimeMs ?? chain.blockTimeMs
  return [
    `  ${name}:`,
    '    family: evm',
    `    networkId: ${networkId}`,
    `    wormholeChainId: ${wormholeChainId}`,
    '    # Add at least two nodes of other providers, each with a name: nothing outvotes a single node that lies.',
    '    # docs/operate/chains.md, "How many nodes".',
    '    nodes:',
    '      - name: main',
    `        url: \${${urlVariable(chain)}}`,
    `    # ${source}.`,
    '    finality:',
    `      kind: ${finality.kind}`,
    ...(finality.kind === 'depth' ? [`      blocks: ${finality.blocks}`] : []),
    ...(feeModel ? [`    feeModel: ${feeModel}`] : []),
    time === undefined ? '    blockTimeMs: 2000 # FILL IN: the SDK does not say it' : `    blockTimeMs: ${time}`,
    '    contracts:',
    `      core: '${core}'`,
    `      tokenBridge: '${tokenBridge}'`,
    '    # The most that the key signs for, in wei. Only this file changes it: docs/operate/signers.md.',
    '    signing:',
    "      maxCostPerTransactionWei: '300000000000000000' # 0.3 coins",
    "      maxSpendingPerHourWei: '3000000000000000000'",
    "      maxSpendingPerDayWei: '20000000000000000000'",
    '    lanes:',
    `      # FILL IN the address that this command prints: portage keystore new --out ${keystoreOf(chain)}. It pays the gas: send it coins.`,
    "      - address: '0x…'",
    '        signer:',
    '          kind: keystore',
    `          file: ${keystoreOf(chain)}`,
    `          passwordVariable: ${passwordVariable}`,
    '',
  ]
}

function bridgeLines(network: Network, chains: readonly KnownChain[]): string[] {
  const { guardians, wormholescan } = apis[network]
  const [first] = chains
  return [
    'bridges:',
    '  wormhole-token-bridge:',
    '    # A guardian spy of this network, which you run next to Portage: docs/operate/spy.md, "The guardian spy".',
    '    spies:',
    '      - address: 127.0.0.1:7073',
    '    # Signed messages that the spy missed are fetched from these.',
    ...(guardians.length > 0 ? ['    guardianApis:', ...guardians.map((url) => `      - ${url}`)] : []),
    '    wormholescanApis:',
    `      - ${wormholescan}`,
    '    # Transfers from every chain that Wormhole connects, also from chains without a node here, such as Solana and Sui.',
    '    # Remove this line to deliver only between the chains above. docs/concepts/wormhole-streams.md, "Sources without a node".',
    `    everySource: ${network}`,
    '    # FILL IN the minimum fee for each token that you deliver. Other tokens are delivered on free routes only. Target chain → origin',
    "    # token (<wormhole chain id>/<64 hex digits>) → minimum fee, in the token's units as the message carries them (at most 8 decimals).",
    '    minimumFees: {}',
    '    # minimumFees:',
    `    #   ${first?.name}:`,
    "    #     2/000000000000000000000000c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2: '200000' # 0.002 WETH of Ethereum",
    '    # Free deliveries: anybody can then make your lanes pay for gas.',
    '    # freeRoutes:',
    `    #   - target: ${first?.name}`,
    '',
  ]
}

function urlVariable({ name }: KnownChain): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_RPC_URL`
}
