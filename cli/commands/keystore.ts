import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { Wallet } from 'ethers'
import { RelayerError } from '../../domain/errors.ts'
import type { Cli, CliContext, GlobalOptions } from '../context.ts'
import { exitCodes } from '../context.ts'
import { facts, print } from '../output.ts'

interface KeystoreOptions {
  readonly out: string
  readonly passwordFile?: string
  readonly passwordVariable: string
}

/** `portage keystore new|import` */
export function keystoreCommand({ context, action }: Cli): Command {
  const create = withFile(new Command('new'))
    .description('Make a new key and write it as an encrypted keystore. The key itself is never shown.')
    .action(action(async (globals, options: KeystoreOptions) => write(context, globals, options, Wallet.createRandom().privateKey)))
  const load = withFile(new Command('import'))
    .description('Read a private key from stdin and write it as an encrypted keystore.')
    .addHelpText('after', '\nExample:\n  portage keystore import --out keystore/lane-1.json < key.hex')
    .action(action(async (globals, options: KeystoreOptions) => write(context, globals, options, await readKey(context.stdin))))
  return new Command('keystore').description('Encrypted key files (Ethereum keystore, version 3).').addCommand(create).addCommand(load)
}

function withFile(command: Command): Command {
  return command
    .requiredOption('--out <file>', 'the file to write; an existing one is never overwritten')
    .addOption(new Option('--password-file <file>', 'file whose first line is the password'))
    .option('--password-variable <name>', 'environment variable that holds the password', 'PORTAGE_KEYSTORE_PASSWORD')
}

async function write(context: CliContext, globals: GlobalOptions, options: KeystoreOptions, privateKey: string) {
  const password = await readPassword(context, options)
  const wallet = walletOf(privateKey)
  const file = resolve(context.cwd(), options.out)
  try {
    await writeFile(file, `${await wallet.encrypt(password)}\n`, { mode: 0o600, flag: 'wx' })
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === 'EEXIST'
        ? 'The file exists already; a key is never overwritten.'
        : 'The file cannot be written.'
    throw new RelayerError('INPUT_INVALID', { detail: why, facts: { file: options.out }, cause })
  }
  const address = wallet.address.toLowerCase()
  print(context, globals, { address, file }, facts({ address, file }))
  return exitCodes.ok
}

async function readPassword(context: CliContext, { passwordFile, passwordVariable }: KeystoreOptions): Promise<string> {
  if (passwordFile === undefined) {
    const password = context.env[passwordVariable]
    if (password) return password
    throw new RelayerError('INPUT_INVALID', { detail: `The password is missing: set ${passwordVariable}, or give --password-file.` })
  }
  const text = await readFile(resolve(context.cwd(), passwordFile), 'utf8').catch((cause: unknown) => {
    throw new RelayerError('INPUT_INVALID', { detail: 'The password file cannot be read.', facts: { file: passwordFile }, cause })
  })
  const password = text.split(/\r?\n/)[0]!
  if (password) return password
  throw new RelayerError('INPUT_INVALID', { detail: 'The first line of the password file is empty.', facts: { file: passwordFile } })
}

async function readKey(stdin: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stdin) text += String(chunk)
  return text.trim()
}

function walletOf(privateKey: string): Wallet {
  const digits = privateKey.replace(/^0x/, '')
  try {
    if (/^[0-9a-fA-F]{64}$/.test(digits)) return new Wallet(`0x${digits}`)
  } catch {
    // Zero, or beyond the curve's order: said below, without the library's text, which may quote the key.
  }
  throw new RelayerError('INPUT_INVALID', { detail: 'stdin must hold exactly the 64 hex digits of a private key.' })
}
