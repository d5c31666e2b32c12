import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { parseEther } from 'ethers'
import { readDevnetChains } from './published-files.ts'
import { devnetTokenFeeWei } from './relayer-config.ts'
import { sendOf } from './send-products.ts'
import { messageKind, startUsers, transferKinds, type SentTransfer, type TransferKind } from './wormhole/users.ts'

const help = `Usage: npx tsx lab/devnet/send.ts [options]

Sends users' transfers on the devnet of \`npm run devnet\`, and prints each as chain/emitter/sequence or chain/nonce.

  --from <chain>     ethereum, bsc or both (default both)
  --kind <kind>      ${transferKinds.join(', ')}, all (of these four, default),
                     ${messageKind} (payload 3 to a contract), or native (the native bridge's token).
                     With \`npm run devnet -- --bridge all\` also ntt, burn (CCTP), and request (a message that pays an
                     Executor for its delivery; Portage must be running)
  --count <n>        number of transfers of each kind (default 1)
  --amount <coins>   amount of each transfer (default 1), with at most 8 decimals for the native bridge and NTT, and 6
                     for CCTP
  --no-fee           pay no fee to the relayer; the devnet's config declines tokens without a fee
  --help             print this text
`

async function send(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string', default: 'both' },
      kind: { type: 'string', default: 'all' },
      count: { type: 'string', default: '1' },
      amount: { type: 'string', default: '1' },
      'no-fee': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const product = sendOf(values.kind)
  const known: readonly TransferKind[] = [...transferKinds, messageKind]
  const kinds = values.kind === 'all' ? transferKinds : known.filter((kind) => kind === values.kind)
  const [ethereum, bsc] = values.help ? [] : await readDevnetChains()
  if (values.help || !ethereum || !bsc) {
    process.stdout.write(help)
    return 0
  }
  const ways = [[ethereum, bsc] as const, [bsc, ethereum] as const].filter(
    ([source]) => values.from === 'both' || source.name === values.from,
  )
  const count = /^[1-9]\d{0,4}$/.test(values.count) ? Number(values.count) : 0
  if ((kinds.length === 0 && !product) || ways.length === 0 || count === 0) {
    process.stderr.write(`An option has a wrong value.\n\n${help}`)
    return 2
  }
  if (product) {
    const lines = await Promise.all(ways.map(([source, target]) => product(source, target, { amount: values.amount, count })))
    process.stdout.write(lines.flat().join(''))
    return 0
  }
  const amount = parseEther(values.amount)
  const transfers = kinds.flatMap((kind: TransferKind) =>
    Array.from({ length: count }, () => ({ kind, amount, fee: values['no-fee'] || kind === messageKind ? 0n : devnetTokenFeeWei })),
  )
  const sent = await Promise.all(ways.map(([source, target]) => startUsers(source, target).send(transfers)))
  process.stdout.write(sent.flat().map(line).join(''))
  return 0
}

function line(sent: SentTransfer): string {
  return `${sent.emitterChain}/${sent.emitter}/${sent.sequence}  ${sent.source} → ${sent.target}  ${sent.kind}  to ${sent.recipient}\n`
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await send(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  })
}
