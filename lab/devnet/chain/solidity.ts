import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Interface, type InterfaceAbi } from 'ethers'
import type { Artifact } from './contracts.ts'

const load = createRequire(import.meta.url)
const folder = fileURLToPath(new URL('../contracts/', import.meta.url))

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, { abi: InterfaceAbi; evm: { bytecode: { object: string } } }>>>>
}

interface Compiler {
  compile(input: string, callbacks: { import(path: string): { contents: string } | { error: string } }): string
  version(): string
}

let compiled: Promise<ReadonlyMap<string, Artifact>> | undefined

/**
 * A contract of lab/devnet/contracts, compiled once for all checkouts of a user. `PORTAGE_REAL_SOURCES` names a folder
 * whose contracts replace those of the same names, such as `evm/src` of the Executor's repository.
 */
export async function compiledArtifact(name: string): Promise<Artifact> {
  compiled ??= compileAll()
  const found = (await compiled).get(name)
  if (!found) throw new Error(`lab/devnet/contracts has no contract ${name}`)
  return found
}

async function compileAll(): Promise<ReadonlyMap<string, Artifact>> {
  const real = process.env['PORTAGE_REAL_SOURCES']
  const names = await sourcesIn(folder)
  const own = await compileFiles(folder, names)
  if (!real) return new Map(own)
  const theirs = await compileFiles(real, await sourcesIn(real), names)
  if (theirs.length === 0) throw new Error(`PORTAGE_REAL_SOURCES: ${real} has no file with the name of one in lab/devnet/contracts`)
  return new Map([...own, ...theirs])
}

async function sourcesIn(path: string): Promise<string[]> {
  return (await readdir(path, { recursive: true })).filter((name) => name.endsWith('.sol')).sort()
}

/** @param wanted the files whose contracts are returned */
async function compileFiles(path: string, names: readonly string[], wanted = names): Promise<[name: string, contract: Artifact][]> {
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))
  const sources = Object.fromEntries(names.map((name, index) => [name, { content: texts[index] }]))
  // cancun is the oldest rule set of the supported networks, so the bytecode runs on all of them.
  const settings = {
    evmVersion: 'cancun',
    optimizer: { enabled: true, runs: 200 },
    outputSelection: Object.fromEntries(wanted.map((name) => [name, { '*': ['abi', 'evm.bytecode.object'] }])),
  }
  const input = JSON.stringify({ language: 'Solidity', sources, settings })
  const { contracts } = JSON.parse(await kept(input)) as Output
  return Object.values(contracts ?? {})
    .flatMap((file) => Object.entries(file))
    .map(([name, { abi, evm }]) => [name, { abi: new Interface(abi), bytecode: `0x${evm.bytecode.object}` }])
}

/** Caches the compiler's output if the folder is writable, because compiling takes 10 s of CPU on a busy machine. */
async function kept(input: string): Promise<string> {
  const { version } = load('solc/package.json') as { version: string }
  const key = createHash('sha256').update(`${version}\n${input}`).digest('hex').slice(0, 32)
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'portage', 'contracts')
  const file = join(folder, `${key}.json`)
  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known !== undefined) return known
  const output = compile(input)
  await store(folder, file, output).catch(() => {})
  return output
}

/** Stores a file. Renames the complete file, so that other processes never read a part of it. */
async function store(folder: string, file: string, output: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`
  await mkdir(folder, { recursive: true })
  await writeFile(draft, output)
  await rename(draft, file)
}

function compile(input: string): string {
  const solc = load('solc') as Compiler
  const output = solc.compile(input, { import: readPackage })
  const problems = (JSON.parse(output) as Output).errors?.filter(({ severity }) => severity === 'error') ?? []
  if (problems.length > 0) throw new Error(problems.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return output
}

function readPackage(path: string): { contents: string } | { error: string } {
  try {
    return { contents: load('node:fs').readFileSync(load.resolve(path), 'utf8') as string }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
