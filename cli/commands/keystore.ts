import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { Wallet } from 'ethers'
import type { Call, CommandSpec } from '../command.ts'
import { facts, type Outcome } from '../output/output.ts'
import type { CliContext } from '../context.ts'
import { textOfFile, writing } from '../arguments/options.ts'
import { invalid } from '../../operations/orders/spec.ts'

type KeystoreOptions = { readonly out: string; readonly passwordFile?: string; readonly passwordVariable: string }

export const keystoreCommand: CommandSpec = {
  description: 'Encrypted key files (Ethereum keystore, version 3).',
  commands: {
    new: {
      description: 'Make a new key and write it as an encrypted keystore. The command does not show the key.',
      options: withFile,
      examples: ['portage keystore new --out keystore/lane-1.json --password-file password.txt'],
      run: (call: Call<KeystoreOptions>) => write(call, Wallet.createRandom().privateKey),
    },
    import: {
      description: 'Read a private key from stdin and write it as an encrypted keystore.',
      options: withFile,
      examples: ['portage keystore import --out keystore/lane-1.json < key.hex'],
      run: async (call: Call<KeystoreOptions>) => write(call, (await text(call.context.stdin)).trim()),
    },
  },
}

function withFile(command: Command): Command {
  return command
    .requiredOption('--out <file>', 'the file to write; an existing one is never overwritten')
    .option('--password-file <file>', 'file whose first line is the password')
    .option('--password-variable <name>', 'environment variable that holds the password', 'PORTAGE_KEYSTORE_PASSWORD')
}

async function write({ context, options }: Call<KeystoreOptions>, privateKey: string): Promise<Outcome> {
  const password = await readPassword(context, options)
  const wallet = walletOf(privateKey)
  const file = resolve(context.cwd(), options.out)
  await writing(options.out, 'The file exists already; a key is never overwritten.', async () => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, `${await wallet.encrypt(password)}\n`, { mode: 0o600, flag: 'wx' })
  })
  const address = wallet.address.toLowerCase()
  return { json: { address, file }, text: facts({ address, file }) }
}

async function readPassword(context: CliContext, { passwordFile: file, passwordVariable }: KeystoreOptions): Promise<string> {
  if (file === undefined) {
    const password = context.env[passwordVariable]
    if (password) return password
    throw invalid(`The password is missing: set ${passwordVariable}, or give --password-file.`)
  }
  const [password] = (await textOfFile(context, file, 'The password file cannot be read.')).split(/\r?\n/)
  if (password) return password
  throw invalid('The first line of the password file is empty.', { file })
}

function walletOf(privateKey: string): Wallet {
  const digits = privateKey.replace(/^0x/, '')
  try {
    if (/^[0-9a-fA-F]{64}$/.test(digits)) return new Wallet(`0x${digits}`)
  } catch {
    // The key is zero or beyond the order of the curve. The library's message may quote the key, so hide the message.
  }
  throw invalid('stdin must hold exactly the 64 hex digits of a private key.')
}
