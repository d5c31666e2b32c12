import type { DevnetAccount } from './chain/accounts.ts'
import type { Devnet } from './index.ts'
import type { NativeBridgeEnd } from './native/native-bridge.ts'
import { apiUrlOf, type PublishedProducts, publishedProducts } from './published-products.ts'
import type { DevnetFiles } from './published-files.ts'
import { toUniversal } from './wormhole/vaa.ts'
import type { WormholeChain } from './wormhole/wormhole.ts'

export function summarizeDevnet(devnet: Devnet, files: DevnetFiles) {
  const { temporal, guardian, chains, lanes, outsiders } = devnet
  return {
    temporal: {
      address: temporal.address,
      namespace: temporal.namespace,
      ui: temporal.uiUrl,
      cli: temporal.cliPath,
      database: temporal.dbFile,
    },
    guardian: { spy: guardian.spy.address, api: guardian.apiUrl },
    ...(devnet.cctp && { iris: devnet.cctp.iris.url }),
    api: apiUrlOf(devnet),
    chains: Object.values(chains).map((chain) => {
      const name = chain.name as 'ethereum' | 'bsc'
      return summarizeChain(chain, devnet.native?.ends[name], publishedProducts(devnet, name))
    }),
    lanes: lanes.map(({ chain, address, variable, privateKey }) => ({ chain, address, variable, devnetKey: privateKey })),
    outsiders: Object.entries(outsiders).map(([chain, { address, privateKey }]) => ({ chain, address, devnetKey: privateKey })),
    files,
  }
}

function summarizeChain(chain: WormholeChain, native: NativeBridgeEnd | undefined, products: PublishedProducts) {
  const { name, wormholeChainId, anvil, core, tokenBridge, weth, token, wrappedWeth, wrappedToken, redeemer, user } = chain
  const { url, chainId, blockTimeSeconds } = anvil
  const { ntt, executor, cctp } = products
  const natives = native && { nativeBridge: native.bridge, nativeToken: native.token }
  const contracts = { core, tokenBridge, weth, token, wrappedWeth, wrappedToken, redeemer, ...natives, ...contractsOf(products) }
  const keyed = ({ address, privateKey }: DevnetAccount) => ({ address, devnetKey: privateKey })
  return {
    name,
    url,
    networkId: chainId,
    wormholeChainId,
    blockTimeSeconds,
    emitter: toUniversal(tokenBridge),
    contracts,
    user: keyed(user),
    ...(native && { nativeUser: keyed(native.user), nativeOwner: keyed(native.deployer) }),
    ...(ntt && { nttUser: keyed(ntt.user), nttOwner: keyed(ntt.deployer) }),
    ...(executor && { executorUser: keyed(executor.user) }),
    ...(cctp && { cctpUser: keyed(cctp.user), cctpOwner: keyed(cctp.deployer) }),
  }
}

/** Contracts of NTT, the Executor and CCTP, by name. */
function contractsOf({ ntt, executor, cctp }: PublishedProducts): Record<string, string> {
  const { 1: v1, 2: v2 } = cctp?.contracts ?? {}
  return {
    ...(ntt && { nttToken: ntt.token, nttManager: ntt.manager, nttTransceiver: ntt.transceivers.join(', ') }),
    ...(executor && { executor: executor.executor, messageSender: executor.sender, messageReceiver: executor.receiver }),
    ...(executor && { executorPayee: executor.payee }),
    ...(cctp && { cctpToken: cctp.token }),
    ...(v1 && { cctpV1Transmitter: v1.transmitter, cctpV1Messenger: v1.messenger }),
    ...(v2 && { cctpV2Transmitter: v2.transmitter, cctpV2Messenger: v2.messenger }),
  }
}

type DevnetSummary = ReturnType<typeof summarizeDevnet>
type Row = readonly [name: string, value: string | number | undefined]

export function describeDevnet(devnet: Devnet, files: DevnetFiles): string {
  const summary = summarizeDevnet(devnet, files)
  const { temporal, guardian, iris, chains } = summary
  const lines = [
    '',
    'Temporal',
    ...rows([
      ['gRPC', temporal.address],
      ['Web UI', temporal.ui],
      ['database', temporal.database ?? 'in memory'],
      ['CLI', temporal.cli],
    ]),
    'Guardian',
    ...rows([
      ['spy (gRPC)', guardian.spy],
      ['REST', guardian.api],
    ]),
    ...(iris === undefined ? [] : ["In place of Circle's API", ...rows([['REST', iris]])]),
    ...chains.flatMap((chain) => [`Chain ${chain.name}`, ...rows(chainRows(chain, summary))]),
    '',
    'DEVNET keys are public knowledge: never fund them on a real network.',
    '',
    ...nextCommands(files.env, summary),
    '',
    'Ctrl-C stops everything.',
    '',
  ]
  return lines.join('\n')
}

function rows(pairs: readonly Row[]): string[] {
  return pairs.map(([name, value]) => `  ${name.padEnd(18)}${value ?? '-'}`)
}

function chainRows(chain: DevnetSummary['chains'][number], { lanes, outsiders }: DevnetSummary): Row[] {
  const key = (entry: { address: string; devnetKey: string }) => `${entry.address}  DEVNET key ${entry.devnetKey}`
  const ofChain = <T extends { chain: string }>(entries: readonly T[]) => entries.filter((entry) => entry.chain === chain.name)
  const { nativeUser, nativeOwner, nttUser, nttOwner, executorUser, cctpUser, cctpOwner } = chain
  const users = { nativeUser, nativeOwner, nttUser, nttOwner, executorUser, cctpUser, cctpOwner }
  const others = Object.entries(users).flatMap(([name, account]): Row[] => (account ? [[spaced(name), key(account)]] : []))
  return [
    ['JSON-RPC', chain.url],
    ['network id', `${chain.networkId} (Wormhole chain ${chain.wormholeChainId}, a block every ${chain.blockTimeSeconds} s)`],
    ...Object.entries(chain.contracts),
    ['emitter', chain.emitter],
    ['user', key(chain.user)],
    ...others,
    ...ofChain(outsiders).map((outsider): Row => ['someone else', key(outsider)]),
    ...ofChain(lanes).map((lane): Row => ['lane', `${key(lane)} (${lane.variable})`]),
  ]
}

function nextCommands(envFile: string, { api, chains }: DevnetSummary): string[] {
  const environment = `set -a; . ${envFile}; set +a`
  const [first] = chains
  const native = [
    'npx tsx lab/devnet/send.ts --kind native',
    'npx tsx lab/devnet/native/native-owner.ts --help   # pause, roles, budget of the native bridge',
  ]
  return [
    'Next, in a second terminal:',
    ...[
      environment,
      'npm run portage -- config check',
      'npm run portage -- doctor',
      `npm run portage -- run --role all   # its page: ${api}/`,
    ].map(indent),
    'and in a third:',
    ...[
      environment,
      'npx tsx lab/devnet/send.ts --help     # what users can send',
      'npx tsx lab/devnet/send.ts',
      ...(first?.nativeOwner ? native : []),
      ...(first?.nttUser ? ['ntt', 'burn', 'request'].map((kind) => `npx tsx lab/devnet/send.ts --kind ${kind}`) : []),
      'npm run portage -- transfer list',
      'npm run portage -- lane list',
      'npm run portage -- stream list',
    ].map(indent),
  ]
}

/** Separates the words of a name: `nativeUser` → `native user`. */
function spaced(name: string): string {
  return name.replace(/[A-Z]/, (letter) => ` ${letter.toLowerCase()}`)
}

function indent(line: string): string {
  return `  ${line}`
}
