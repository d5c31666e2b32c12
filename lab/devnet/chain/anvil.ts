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
  /** Seconds between blocks (fractions allowed). Empty blocks are mined too. */
  readonly blockTimeSeconds: number
  /** `safe` lags the head by this many blocks, `finalized` by twice as many (measured). Default 1. */
  readonly slotsInAnEpoch?: number
  readonly port?: number
  /** Default: the devnet mnemonic, whose accounts are funded in the first block. */
  readonly mnemonic?: string
  /** How many accounts of the mnemonic are funded (1,000,000 each). Default 60. */
  readonly accounts?: number
  /** The chain's state is loaded from this file if it exists, and written to it by `stop()`. */
  readonly statePath?: string
  /** Hard fork of the chain. Absent: the newest. `berlin` and earlier have no base fee. */
  readonly hardfork?: string
  readonly logFile?: string
}

/** A node with what its users need. */
export interface AnvilNode {
  readonly url: string
  readonly chainId: number
  /** A raw JSON-RPC call (evm_mine, evm_snapshot, anvil_reorg…). Throws Error with the node's message. */
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
}

/** A running anvil node. */
export interface Anvil extends AnvilNode {
  readonly pid: number
  readonly blockTimeSeconds: number
  stop(): Promise<void>
  /** Sends a signal; SIGKILL by default. SIGSTOP and SIGCONT make it stall and wake up. */
  kill(signal?: NodeJS.Signals): void
}

/** The gas limit of a block: mainnet's of 2025. */
const blockGasLimit = 60_000_000
/** EIP-170's limit is 24,576 bytes. The packaged NttManager 2.0.0 is larger. */
const codeSizeLimit = 49_152

/**
 * Starts anvil with interval mining on 127.0.0.1 and waits until it answers.
 * Throws SETUP_INCOMPLETE if its binary is missing, NODE_UNAVAILABLE if it does not come up.
 */
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
    // Without a state file there is nothing to save, so no grace is needed.
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
 * The binary itself, because `bin.mjs` of the package starts it as a child, which would survive a SIGKILL. Throws
 * SETUP_INCOMPLETE.
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

/** A node that another process started. */
export function attachAnvil(url: string, chainId: number): AnvilNode {
  return { url, chainId, rpc: <T>(method: string, params: readonly unknown[] = []) => call<T>(url, method, params) }
}

async function call<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const answer = (await postJson(url, { jsonrpc: '2.0', id: 1, method, params })) as { result?: T; error?: { message: string } }
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
  return answer.result as T
}
