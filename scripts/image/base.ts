import { cp, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from '../../lab/devnet/run.ts'
import { programCache } from '../../lab/devnet/temporal/temporal-cli.ts'

/** Version of the npm package `node`. Its platform packages have Node's binaries. */
const nodeVersion = '24.21.0'
const architectures: Readonly<Record<string, string>> = { x64: 'linux-x64', arm64: 'linux-arm64' }

/**
 * A tar of a Debian with node and npm in /usr/local, like the public base. Debian comes from this machine's mirror, and
 * Node from npm's registry. The tar is made only once. Throws an Error that names the missing part.
 */
export async function baseImageTar(log: (line: string) => void): Promise<string> {
  const release = Object.fromEntries((await readFile('/etc/os-release', 'utf8')).split('\n').map((line) => line.split('=')))
  const suite = release['VERSION_CODENAME'] as string | undefined
  const part = architectures[process.arch]
  if (release['ID'] !== 'debian' || suite === undefined || part === undefined)
    throw new Error('this machine is not a Debian on x64 or arm64')
  const tar = join(programCache(process.env), `image-base-${suite}-node-${nodeVersion}.tar`)
  if (await stat(tar).catch(() => undefined)) return tar
  await mkdir(dirname(tar), { recursive: true })
  const work = await mkdtemp(join(dirname(tar), 'work-'))
  try {
    const root = join(work, 'root')
    log(`base: debootstrap ${suite} (once; a minute)…`)
    await must('debootstrap', '--variant=minbase', '--include=ca-certificates', suite, root, await mirror())
    await addNode(root, work, part)
    await must('tar', '--create', '--file', join(work, 'base.tar'), '--directory', root, '--exclude=./var/cache/apt/archives/*', '.')
    // Renames only a complete tar, so that another process never sees a part of the tar.
    await rename(join(work, 'base.tar'), tar)
    return tar
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function addNode(root: string, work: string, part: string): Promise<void> {
  const packed = await must('npm', 'pack', `node-${part}@${nodeVersion}`, '--pack-destination', work, '--silent')
  const file = packed.trim().split('\n').at(-1) ?? ''
  const bin = join(root, 'usr/local/bin')
  await must('tar', '--extract', '--file', join(work, file), '--directory', bin, '--strip-components=2', 'package/bin/node')
  const modules = join(root, 'usr/local/lib/node_modules')
  const globals = (await must('npm', 'root', '--global')).trim()
  await cp(join(globals, 'npm'), join(modules, 'npm'), { recursive: true, verbatimSymlinks: true })
  await must('ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'))
  const certificates = '/etc/ssl/certs/ca-certificates.crt'
  await cp(certificates, join(root, certificates))
  const registry = (await must('npm', 'config', 'get', 'registry')).trim()
  await mkdir(join(root, 'usr/local/etc'), { recursive: true })
  await writeFile(join(root, 'usr/local/etc/npmrc'), `registry=${registry}\ncafile=${certificates}\n`)
}

async function mirror(): Promise<string> {
  const texts = await Promise.all(
    ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  const found = /^(?:URIs:|deb)\s+(?:\[[^\]]*\]\s+)?(\S+)/m.exec(texts.join('\n'))?.[1]
  if (found === undefined) throw new Error('apt names no mirror')
  return found
}

async function must(command: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, { timeoutMs: 900_000 })
  if (code !== 0) throw new Error(`${command} ${args[0]}: ${(stderr || stdout).trim().slice(-1_000)}`)
  return stdout
}
