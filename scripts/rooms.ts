/**
 * Import rules. A room is a folder, or a file with its own rules. `<family>` matches one folder name, the same in the
 * whole row. A file belongs to the longest matching path without such a placeholder or, if there is none, to the
 * longest matching path. The outer rooms (`all`) may import everything, and no other room may import them.
 */
export interface Room {
  readonly path: string
  /** Other paths that the room may import. */
  readonly imports: readonly string[] | 'all'
  /** npm packages and `node:` builtins that the room may import. A trailing `*` matches any text. */
  readonly packages: readonly string[] | 'all'
  /** Packages of which only some names may be imported. */
  readonly names?: Readonly<Record<string, RegExp>>
}

const ports = ['chains/port.ts', 'chains/heads.ts', 'bridges/port.ts']
const evmLibrary = 'ethers'
const bridgePackages = [evmLibrary, 'lru-cache']
/** The rooms that `workers`, `api` and `cli` import. These three do not import one another. */
const inner = [
  'domain',
  'temporal',
  'config',
  'observability',
  'runtime',
  'chains',
  'bridges',
  'intake',
  'lanes',
  'operations/access',
  'operations/admin',
  'operations/causes',
  'operations/codec',
  'operations/notifications',
  'operations/orders',
  'operations/prices',
]

export const rooms: readonly Room[] = [
  { path: 'domain', imports: [], packages: [] },
  {
    path: 'temporal/contracts',
    imports: ['domain'],
    packages: ['@temporalio/common', '@temporalio/workflow'],
    names: { '@temporalio/workflow': /^define/ },
  },
  {
    path: 'temporal/encryption',
    imports: ['domain', 'temporal/contracts'],
    packages: ['@temporalio/common', '@temporalio/proto', 'node:*'],
  },
  {
    path: 'temporal/client',
    imports: ['domain', 'temporal/contracts', 'temporal/encryption', 'observability', 'runtime'],
    packages: ['@temporalio/client', '@temporalio/common', 'lru-cache', 'node:*'],
  },
  { path: 'temporal/recovery', imports: ['domain', 'temporal', 'runtime', 'observability'], packages: ['node:*'] },
  { path: 'workflows', imports: ['domain', 'temporal/contracts'], packages: ['@temporalio/workflow', '@temporalio/common'] },
  { path: 'chains/port.ts', imports: ['domain'], packages: [] },
  { path: 'chains/heads.ts', imports: ['domain', 'chains/port.ts', 'runtime'], packages: [] },
  { path: 'chains/signing-port.ts', imports: ['domain'], packages: [] },
  { path: 'bridges/port.ts', imports: ['domain', 'chains/port.ts'], packages: [] },
  { path: 'runtime', imports: ['domain'], packages: ['lru-cache', 'node:*'] },
  { path: 'chains/crypto', imports: [], packages: [evmLibrary, 'secp256k1', 'node:*'] },
  { path: 'config', imports: ['domain'], packages: ['zod', 'yaml', '@temporalio/envconfig', 'node:*'] },
  { path: 'config/load/wormhole-checks.ts', imports: ['domain', 'config', 'bridges/wormhole-token-bridge/emitters.ts'], packages: [] },
  { path: 'observability', imports: ['domain'], packages: ['pino', 'prom-client', 'node:*'] },
  {
    path: 'chains/<family>',
    imports: ['domain', 'chains/port.ts', 'chains/heads.ts', 'chains/signing-port.ts', 'chains/crypto', 'runtime', 'observability'],
    packages: [evmLibrary, 'lru-cache', 'node:*'],
  },
  {
    path: 'chains/<family>/signers',
    imports: [
      'domain',
      'chains/port.ts',
      'chains/heads.ts',
      'chains/signing-port.ts',
      'chains/<family>',
      'chains/crypto',
      'runtime',
      'observability',
    ],
    packages: [evmLibrary, '@aws-sdk/client-kms', 'lru-cache', 'node:*'],
  },
  {
    path: 'bridges/gates',
    imports: ['domain', 'temporal/contracts', 'chains/port.ts', 'chains/heads.ts', 'bridges/port.ts', 'runtime', 'observability'],
    packages: [],
  },
  { path: 'bridges/kit', imports: ['domain', 'chains/port.ts', 'bridges/port.ts', 'chains/crypto', 'runtime'], packages: bridgePackages },
  {
    path: 'bridges/packages',
    imports: ['domain', 'config', 'chains/port.ts', 'bridges/port.ts', 'bridges/kit'],
    packages: [...bridgePackages, 'zod', 'portage/plugin', 'node:*'],
  },
  { path: 'bridges/<protocol>', imports: ['domain', ...ports, 'bridges/kit', 'chains/crypto', 'runtime'], packages: bridgePackages },
  {
    path: 'bridges/<protocol>/<family>.ts',
    imports: ['domain', ...ports, 'bridges/kit', 'bridges/<protocol>', 'chains/<family>/index.ts', 'chains/crypto', 'runtime'],
    packages: bridgePackages,
  },
  {
    path: 'intake',
    imports: ['domain', 'temporal', ...ports, 'runtime', 'observability'],
    packages: ['@grpc/*', 'zod', 'node:*'],
  },
  {
    path: 'lanes',
    imports: ['domain', 'temporal', 'chains/port.ts', 'chains/heads.ts', 'chains/signing-port.ts', 'runtime', 'observability'],
    packages: ['lru-cache', 'node:*'],
  },
  // The page bundles this file, too.
  { path: 'lanes/report-schema.ts', imports: [], packages: ['zod'] },
  { path: 'operations/access', imports: ['domain'], packages: ['jose', 'zod', 'node:*'] },
  {
    path: 'operations/admin',
    imports: ['domain', 'temporal', 'chains/port.ts', 'chains/heads.ts', 'runtime', 'observability'],
    packages: ['node:*'],
  },
  {
    path: 'operations/archive',
    imports: ['domain', 'temporal', 'runtime'],
    packages: ['@smithy/signature-v4', '@aws-sdk/credential-provider-node', 'zod', 'node:*'],
  },
  {
    path: 'operations/causes',
    imports: [
      'domain',
      'temporal',
      'config',
      ...ports,
      'chains/registry.ts',
      'bridges/registry.ts',
      'bridges/configured-emitters.ts',
      'intake',
      'lanes',
      'operations/orders/scope-text.ts',
      'operations/prices',
      'runtime',
      'observability',
    ],
    packages: ['@grpc/*', 'zod', 'node:*'],
  },
  { path: 'operations/prices', imports: ['domain', 'config', ...ports, 'bridges/kit', 'intake', 'runtime'], packages: ['node:*'] },
  {
    path: 'operations/codec',
    imports: ['domain', 'operations/access', 'runtime', 'observability'],
    packages: ['@temporalio/common', 'zod', 'node:*'],
  },
  {
    path: 'operations/notifications',
    imports: ['domain', 'temporal', 'runtime', 'observability'],
    packages: ['standardwebhooks', 'lru-cache', 'node:*'],
  },
  {
    path: 'operations/orders',
    imports: [
      'domain',
      'temporal',
      'config',
      'chains/port.ts',
      'intake',
      'lanes',
      'operations/access',
      'operations/notifications',
      'runtime',
      'observability',
    ],
    packages: ['zod', 'node:*'],
  },
  { path: 'operations/orders/transfer-text.ts', imports: [], packages: [] },
  {
    path: 'activities',
    imports: ['domain', 'temporal', ...ports, 'bridges/gates', 'lanes', 'intake', 'operations/notifications', 'runtime', 'observability'],
    packages: ['@temporalio/activity', '@temporalio/common', 'lru-cache', 'node:*'],
  },
  { path: 'chains/registry.ts', imports: ['domain', 'config', 'observability', 'chains'], packages: [] },
  { path: 'bridges/registry.ts', imports: ['domain', 'config', 'observability', 'chains', 'bridges'], packages: [] },
  { path: 'bridges/executor-bridge.ts', imports: ['domain', 'config', 'chains', 'bridges'], packages: [] },
  { path: 'bridges/configured-emitters.ts', imports: ['domain', 'config', 'bridges'], packages: [] },
  {
    path: 'workers',
    imports: [...inner, 'workflows', 'activities'],
    packages: ['@temporalio/worker', '@temporalio/common', 'lru-cache', 'node:*'],
  },
  {
    path: 'workers/telemetry/otlp.ts',
    imports: ['domain', 'observability', 'runtime', 'workers', 'workflows'],
    packages: ['@opentelemetry/*', '@temporalio/interceptors-opentelemetry', '@temporalio/worker'],
  },
  { path: 'api', imports: inner, packages: ['fastify', 'fastify-type-provider-zod', '@fastify/*', 'lru-cache', 'zod', 'node:*'] },
  // The page imports this file, so this file must run in a browser.
  { path: 'api/answers.ts', imports: ['domain', 'lanes/report-schema.ts'], packages: ['zod'] },
  // The page runs in a browser. bin/page.js builds it.
  { path: 'api/page', imports: ['domain', 'api/answers.ts', 'operations/orders/transfer-text.ts'], packages: ['preact', 'uplot'] },
  {
    path: 'cli',
    imports: [...inner, 'operations/archive'],
    packages: ['commander', evmLibrary, '@grpc/*', 'log-update', 'string-width', 'node:*'],
  },
  // These two commands do the work of workers in their own process.
  ...['cli/commands/run.ts', 'cli/commands/stream/stream-audit.ts'].map((path): Room => ({
    path,
    imports: [...inner, 'cli', 'workers', 'api'],
    packages: ['commander', 'node:*'],
  })),
  ...['bin', 'lab', 'scripts', 'test'].map((path): Room => ({
    path,
    imports: 'all',
    packages: 'all',
  })),
]

export interface ImportStatement {
  readonly line: number
  readonly specifier: string
  readonly names: readonly string[]
}

/** The problem of an import, as a sentence. Undefined if the import breaks no rule. */
export function checkImport(file: string, statement: ImportStatement): string | undefined {
  const found = roomOf(file)
  if (!found) return `${file}: no room has this path. Put the file into a room, or add a row to scripts/rooms.ts.`
  const { room, bound } = found
  const problem = (rule: string) => `${file}:${statement.line} imports ${statement.specifier}: ${rule}`
  if (statement.specifier.startsWith('.')) {
    if (room.imports === 'all') return undefined
    const target = resolvePath(file, statement.specifier)
    if ([room.path, ...room.imports].some((path) => isUnder(bind(path, bound), target))) return undefined
    return problem(`${room.path} may import only ${listed(room.imports)} (scripts/rooms.ts)`)
  }
  if (room.packages === 'all') return undefined
  const allowed = room.packages.find((pattern) => matches(pattern, statement.specifier))
  if (allowed === undefined) return problem(`${room.path} may import only ${listed(room.packages)} from outside (scripts/rooms.ts)`)
  const names = room.names?.[allowed]
  const refused = names && statement.names.find((name) => !names.test(name))
  return refused === undefined
    ? undefined
    : problem(`of this package ${room.path} may import only names like ${String(names)}, not ${refused}`)
}

function roomOf(file: string): { room: Room; bound: Record<string, string> } | undefined {
  if (!file.includes('/')) return { room: { path: '.', imports: 'all', packages: 'all' }, bound: {} }
  const candidates = rooms.flatMap((room) => {
    const match = new RegExp(`^${patternOf(room.path)}(?:/|$)`).exec(file)
    return match ? [{ room, bound: { ...match.groups } }] : []
  })
  const exactness = (path: string) => path.split('/').length + (path.includes('<') ? 0 : 100)
  return candidates.sort((a, b) => exactness(b.room.path) - exactness(a.room.path))[0]
}

function patternOf(path: string): string {
  return path.replaceAll('.', '\\.').replaceAll(/<(\w+)>/g, '(?<$1>[^/]+)')
}

function bind(path: string, bound: Record<string, string>): string {
  return path.replaceAll(/<(\w+)>/g, (_, name: string) => bound[name] ?? '')
}

function isUnder(path: string, target: string): boolean {
  return target === path || target.startsWith(`${path}/`)
}

function resolvePath(file: string, specifier: string): string {
  return new URL(specifier, `file:///${file}`).pathname.slice(1)
}

function matches(pattern: string, specifier: string): boolean {
  if (pattern.endsWith('*')) return specifier.startsWith(pattern.slice(0, -1))
  return specifier === pattern || specifier.startsWith(`${pattern}/`)
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'itself' : `itself, ${names.join(', ')}`
}
