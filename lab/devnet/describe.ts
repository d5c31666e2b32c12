import { configSchema } from '../../config/schema/schema.ts'
import type { DevnetAccount } from './chain/accounts.ts'
import type { Devnet } from './index.ts'
import type { NativeBridgeEnd } from './native/native-bridge.ts'
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
    chains: Object.values(chains).map((chain) => summarizeChain(chain, devnet.native?.ends[chain.name as 'ethereum' | 'bsc'])),
    lanes: lanes.map(({ chain, address, variable, privateKey }) => ({ chain, address, variable, devnetKey: privateKey })),
    outsiders: Object.entries(outsiders).map(([chain, { address, privateKey }]) => ({ chain, address, devnetKey: privateKey })),
    files,
  }
}

function summarizeChain(chain: WormholeChain, native: NativeBridgeEnd | undefined) {
  const { name, wormholeChainId, anvil, core, tokenBridge, weth, token, wrappedWeth, wrappedToken, user } = chain
  const { url, chainId, blockTimeSeconds } = anvil
  const natives = native && { nativeBridge: native.bridge, nativeToken: native.token }
  const contracts = { core, tokenBridge, weth, token, wrappedWeth, wrappedToken, ...natives }
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
  }
}

type DevnetSummary = ReturnType<typeof summarizeDevnet>
type Row = readonly [name: string, value: string | number | undefined]

export function describeDevnet(devnet: Devnet, files: DevnetFiles): string {
  const summary = summarizeDevnet(devnet, files)
  const { temporal, guardian, chains } = summary
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
    ...chains.flatMap((chain) => [`Chain ${chain.name}`, ...rows(chainRows(chain, summary))]),
    '',
    'DEVNET keys are public knowledge: never fund them on a real network.',
    '',
    ...nextCommands(
      files.env,
      chains.some(({ nativeOwner }) => nativeOwner),
    ),
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
  const native: Row[] = [
    ...(chain.nativeUser ? [['native user', key(chain.nativeUser)] as const] : []),
    ...(chain.nativeOwner ? [['native owner', key(chain.nativeOwner)] as const] : []),
  ]
  return [
    ['JSON-RPC', chain.url],
    ['network id', `${chain.networkId} (Wormhole chain ${chain.wormholeChainId}, a block every ${chain.blockTimeSeconds} s)`],
    ...Object.entries(chain.contracts),
    ['emitter', chain.emitter],
    ['user', key(chain.user)],
    ...native,
    ...ofChain(outsiders).map((outsider): Row => ['someone else', key(outsider)]),
    ...ofChain(lanes).map((lane): Row => ['lane', `${key(lane)} (${lane.variable})`]),
  ]
}

function nextCommands(envFile: string, hasNative: boolean): string[] {
  const environment = `set -a; . ${envFile}; set +a`
  const { port } = configSchema.shape.api.parse({})
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
      `npm run portage -- run --role all   # its page: http://127.0.0.1:${port}/`,
    ].map(indent),
    'and in a third:',
    ...[
      environment,
      'npx tsx lab/devnet/send.ts --help     # what users can send',
      'npx tsx lab/devnet/send.ts',
      ...(hasNative ? native : []),
      'npm run portage -- transfer list',
      'npm run portage -- lane list',
      'npm run portage -- stream list',
    ].map(indent),
  ]
}

function indent(line: string): string {
  return `  ${line}`
}
