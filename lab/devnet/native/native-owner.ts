import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { id as keccakText, parseUnits } from 'ethers'
import { Script } from '../chain/contracts.ts'
import { nativeBridgeAbi } from './native-bridge.ts'
import { readDevnetChains } from '../published-files.ts'
import { compiledArtifact } from '../chain/solidity.ts'

const help = `Usage: npx tsx lab/devnet/native/native-owner.ts <order> --chain <chain> [options]

Makes a call as the owner of the native bridge of \`npm run devnet\`, at the bridge's end on the given chain, to see how
Portage reacts.

  pause, unpause               pause or resume completions on the chain, and transfers of its users
  revoke, grant --lane <0x…>   take RELAYER_ROLE from a lane's address, or give it
  fund --amount <tokens>       pay tokens into the insurance fund; a quarter of the fund is the daily inbound limit
  --chain <chain>              ethereum or bsc: the target of the affected transfers
  --help                       print this text

To use up the daily limit as a user: npx tsx lab/devnet/send.ts --kind native --from <source> --amount 249999000
`

async function own(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      chain: { type: 'string' },
      lane: { type: 'string', default: '' },
      amount: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  const side = (await readDevnetChains()).find(({ name }) => name === values.chain)
  const call = callOf(positionals[0], values)
  if (!side || !call || positionals.length !== 1) {
    process.stderr.write(`The order is unknown, or an option has a wrong value.\n\n${help}`)
    return 2
  }
  const { native } = side
  if (!native) throw new Error('This devnet has no native bridge')
  const [bridge, token] = await Promise.all([nativeBridgeAbi(), compiledArtifact('BridgeToken')])
  const paused = async () =>
    BigInt(await side.anvil.rpc<string>('eth_call', [{ to: native.bridge, data: keccakText('paused()').slice(0, 10) }, 'latest'])) > 0n
  if (call.pause !== undefined && call.pause === (await paused())) {
    process.stdout.write(`unchanged: the native bridge on ${side.name} ${call.pause ? 'is paused' : 'is not paused'}\n`)
    return 0
  }
  const script = await Script.of(side.anvil, native.deployer)
  if (call.method === 'mint') script.call(native.token, token.abi, 'mint', [native.insuranceFund, call.amount])
  else script.call(native.bridge, bridge, call.method, call.lane === undefined ? [] : [keccakText('RELAYER_ROLE'), call.lane])
  const [mined] = await script.mine()
  process.stdout.write(
    `done: ${call.method} at the native bridge on ${side.name}, block ${mined?.blockNumber}, ${mined?.transactionHash}\n`,
  )
  return 0
}

interface OwnerCall {
  readonly method: 'togglePause' | 'revokeRole' | 'grantRole' | 'mint'
  readonly pause?: boolean
  readonly lane?: string
  readonly amount?: bigint
}

function callOf(order: string | undefined, { lane, amount }: { lane: string; amount: string }): OwnerCall | undefined {
  if (order === 'pause' || order === 'unpause') return { method: 'togglePause', pause: order === 'pause' }
  if ((order === 'revoke' || order === 'grant') && /^0x[0-9a-f]{40}$/i.test(lane)) return { method: `${order}Role`, lane }
  if (order === 'fund' && /^[0-9]{1,12}$/.test(amount)) return { method: 'mint', amount: parseUnits(amount, 8) }
  return undefined
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await own(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  })
}
