import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { devnetMnemonic } from './accounts.ts'
import { startChild } from '../child.ts'
import { freePort } from '../ports.ts'
import { postJson } from './post.ts'
import { until } from '../until.ts'

export interface AnvilOptions {
  /** EIP-155 chain id. */
  readonly chainId: number
  /** Seconds between blocks, fractions allowed. Empty blocks are mined too. */
  readonly blockTimeSeconds: number
  /** `safe` lags the head by this number of blocks, and `finalized` lags by twice this number (measured). Default 1. */
  readonly slotsInAnEpoch?: number
  readonly port?: number
  /** Default: the devnet mnemonic. Its accounts are funded in the first block. */
  readonly mnemonic?: string
  /** Number of accounts that get 1,000,000 coins each. Default 60. */
  readonly accounts?: number
  /** File with the chain's state. `startAnvil` loads an existing file, and `stop()` writes it. */
  readonly statePath?: string
  /** Hard fork of the chain. Default: the newest. `berlin` and older forks have no base fee. */
  readonly hardfork?: string
  readonly logFile?: string
}

export interface AnvilNode {
  readonly url: string
  readonly chainId: number
  /** Makes a JSON-RPC call (evm_mine, evm_snapshot, anvil_reorg…). Throws Error with the node's message. */
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
}

export interface Anvil extends AnvilNode {
  readonly pid: number
  readonly blockTimeSeconds: number
  stop(): Promise<void>
  /** Sends a signal, by default SIGKILL. SIGSTOP stalls the node, and SIGCONT resumes it. */
  kill(signal?: NodeJS.Signals): void
}

/** Gas limit of a block on mainnet in 2025. */
const blockGasLimit = 60_000_000
/** Size limit of a contract, bytes. EIP-170 allows 24,576, but the packaged NttManager 2.0.0 is larger. */
const codeSizeLimit = 49_152

/** Starts a chain. Throws SETUP_INCOMPLETE without a binary, and NODE_UNAVAILABLE if anvil does not answer. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const child = await startChild(anvilBinary(), flags(options, port), { logFile: options.logFile })
  const { rpc } = attachAnvil(url, options.chainId)
  try {
    await until(async () => Number(await rpc<string>('eth_chainId')) === options.chainId, {
      timeoutMs: 60_000,
      what: 'anvil to answer',
      giveUp: () => child.ended,
    })
  } catch (cause) {
    await child.stop(0)
    throw new RelayerError('NODE_UNAVAILABLE', { detail: `anvil did not start: ${child.tail() || 'it wrote nothing'}`, cause })
  }
  return {
    url,
    pid: child.pid,
    chainId: options.chainId,
    blockTimeSeconds: options.blockTimeSeconds,
    rpc,
    // A node without a state file writes nothing when it stops, so it is killed without a grace period.
    stop: () => child.stop(options.statePath === undefined ? 0 : 10_000),
    kill: (signal = 'SIGKILL') => child.kill(signal),
  }
}

function flags(options: AnvilOptions, port: number): string[] {
  return [
    ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(options.chainId), '--quiet'],
    ...['--block-time', String(options.blockTimeSeconds), '--slots-in-an-epoch', String(options.slotsInAnEpoch ?? 1)],
    ...['--mnemonic', options.mnemonic ?? devnetMnemonic, '--accounts', String(options.accounts ?? 60), '--balance', '1000000'],
    ...['--gas-limit', String(blockGasLimit), '--code-size-limit', String(codeSizeLimit)],
    ...(options.hardfork === undefined ? [] : ['--hardfork', options.hardfork]),
    ...(options.statePath === undefined ? [] : ['--state', options.statePath]),
  ]
}

/**
 * Path of anvil's own binary, because the package's `bin.mjs` would start a child that survives a SIGKILL of `bin.mjs`.
 * Throws SETUP_INCOMPLETE if the package or the binary is missing.
 */
export function anvilBinary(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const platformPackage = `@foundry-rs/anvil-${process.platform}-${architecture}`
  const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const own = createRequire(import.meta.url)
  try {
    const home = own.resolve('@foundry-rs/anvil/package.json')
    const candidates = [() => createRequire(home).resolve(`${platformPackage}/bin/${name}`), () => join(dirname(home), '..', 'dist', name)]
    for (const candidate of candidates) {
      const path = attempt(candidate)
      if (path !== undefined && existsSync(path)) return path
    }
  } catch (cause) {
    throw new RelayerError('SETUP_INCOMPLETE', { detail: 'The package @foundry-rs/anvil is not installed.', cause })
  }
  throw new RelayerError('SETUP_INCOMPLETE', { detail: `The package ${platformPackage} (the anvil binary) is not installed.` })
}

function attempt<T>(get: () => T): T | undefined {
  try {
    return get()
  } catch {
    return undefined
  }
}

export function attachAnvil(url: string, chainId: number): AnvilNode {
  return { url, chainId, rpc: <T>(method: string, params: readonly unknown[] = []) => call<T>(url, method, params) }
}

async function call<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const answer = (await postJson(url, { jsonrpc: '2.0', id: 1, method, params })) as { result?: T; error?: { message: string } }
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
  return answer.result as T
}
