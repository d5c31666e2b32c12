/**
 * Who may import whom. A room is a folder, or a file with rules of its own; `<family>` stands for one folder name and means the same name again in the row.
 * A file belongs to the longest path that matches it. The outer rooms (`all`) may import everything, and no other row names them.
 * docs/ARCHITECTURE.md shows this table, and a test compares the two.
 */
export interface Room {
  readonly path: string
  /** Paths that it may import besides its own. */
  readonly imports: readonly string[] | 'all'
  /** npm packages and `node:` builtins that it may import; a trailing `*` matches any rest. */
  readonly packages: readonly string[] | 'all'
  /** Packages of which only some names may be imported. */
  readonly names?: Readonly<Record<string, RegExp>>
}

const ports = ['chains/port.ts', 'bridges/port.ts', 'bridges/source-port.ts']
const evmLibrary = 'ethers'
/** The rooms that put things into practice: `workers`, `api` and `cli` are built on them, and do not import one another. */
const inner = [
  'domain',
  'temporal',
  'access',
  'config',
  'observability',
  'chains',
  'bridges',
  'intake',
  'streams',
  'recovery',
  'notifications',
  'lanes',
  'http',
  'admin',
  'codec',
  'causes',
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
    imports: ['domain', 'temporal/contracts', 'temporal/encryption', 'observability'],
    packages: ['@temporalio/client', '@temporalio/common', 'node:*'],
  },
  { path: 'workflows', imports: ['domain', 'temporal/contracts'], packages: ['@temporalio/workflow', '@temporalio/common'] },
  { path: 'chains/port.ts', imports: ['domain'], packages: [] },
  { path: 'chains/signing-port.ts', imports: ['domain'], packages: [] },
  { path: 'bridges/port.ts', imports: ['domain', 'chains/port.ts', 'bridges/source-port.ts'], packages: [] },
  { path: 'bridges/source-port.ts', imports: ['domain'], packages: [] },
  { path: 'http', imports: [], packages: ['node:*'] },
  { path: 'crypto', imports: [], packages: [evmLibrary, 'secp256k1', 'node:*'] },
  { path: 'config', imports: ['domain'], packages: ['zod', 'yaml', '@temporalio/envconfig', 'node:*'] },
  { path: 'access', imports: ['domain'], packages: ['jose', 'zod', 'node:*'] },
  { path: 'observability', imports: ['domain'], packages: ['pino', 'prom-client', 'node:*'] },
  {
    path: 'chains/<family>',
    imports: ['domain', 'chains/port.ts', 'chains/signing-port.ts', 'crypto', 'http', 'observability'],
    packages: [evmLibrary, 'node:*'],
  },
  {
    path: 'chains/<family>/signers',
    imports: ['domain', 'chains/port.ts', 'chains/signing-port.ts', 'chains/<family>', 'crypto', 'http', 'observability'],
    packages: [evmLibrary, '@aws-sdk/client-kms', 'node:*'],
  },
  {
    path: 'bridges/gates',
    imports: ['domain', 'temporal/contracts', 'chains/port.ts', 'bridges/port.ts', 'observability'],
    packages: [],
  },
  { path: 'bridges/common', imports: ['domain', 'chains/port.ts', 'bridges/port.ts', 'crypto'], packages: [evmLibrary] },
  { path: 'bridges/<protocol>', imports: ['domain', ...ports, 'bridges/common', 'crypto'], packages: [evmLibrary] },
  {
    path: 'bridges/<protocol>/<family>.ts',
    imports: ['domain', ...ports, 'bridges/common', 'bridges/<protocol>', 'chains/<family>/index.ts', 'crypto'],
    packages: [evmLibrary],
  },
  {
    path: 'intake',
    imports: ['domain', 'temporal', ...ports, 'http', 'observability'],
    packages: ['@grpc/*', 'zod', 'node:*'],
  },
  {
    path: 'streams',
    imports: ['domain', 'temporal', ...ports, 'intake', 'observability'],
    packages: ['zod', 'node:*'],
  },
  {
    path: 'archive',
    imports: ['domain', 'temporal', 'http'],
    packages: ['@smithy/signature-v4', '@aws-sdk/credential-provider-node', 'zod', 'node:*'],
  },
  { path: 'notifications', imports: ['domain', 'temporal', 'http', 'observability'], packages: ['standardwebhooks', 'node:*'] },
  { path: 'recovery', imports: ['domain', 'temporal', 'observability'], packages: ['node:*'] },
  { path: 'admin', imports: ['domain', 'temporal', 'chains/port.ts', 'http', 'observability'], packages: ['node:*'] },
  {
    path: 'causes',
    imports: ['domain', 'temporal', 'config', 'chains/registry.ts', 'bridges/registry.ts', 'intake', 'lanes', 'streams', 'observability'],
    packages: ['@grpc/*', 'zod', 'node:*'],
  },
  { path: 'codec', imports: ['domain', 'access', 'http', 'observability'], packages: ['@temporalio/common', 'zod', 'node:*'] },
  { path: 'lanes', imports: ['domain', 'temporal', 'chains/port.ts', 'chains/signing-port.ts', 'observability'], packages: ['node:*'] },
  {
    path: 'activities',
    imports: ['domain', 'temporal', ...ports, 'bridges/gates', 'lanes', 'intake', 'recovery', 'notifications', 'observability'],
    packages: ['@temporalio/activity', '@temporalio/common', 'node:*'],
  },
  { path: 'chains/registry.ts', imports: ['domain', 'config', 'observability', 'chains'], packages: [] },
  { path: 'bridges/registry.ts', imports: ['domain', 'config', 'observability', 'chains', 'bridges'], packages: [] },
  { path: 'workers', imports: [...inner, 'workflows', 'activities'], packages: ['@temporalio/worker', '@temporalio/common', 'node:*'] },
  {
    path: 'workers/otlp.ts',
    imports: ['domain', 'observability', 'workers', 'workflows'],
    packages: ['@opentelemetry/*', '@temporalio/interceptors-opentelemetry', '@temporalio/worker'],
  },
  { path: 'api', imports: inner, packages: ['fastify', 'fastify-type-provider-zod', '@fastify/*', 'zod', 'node:*'] },
  // It runs in a browser, and is no part of any process: bin/page.js builds it.
  { path: 'page', imports: ['domain'], packages: ['preact', 'uplot'] },
  { path: 'cli', imports: [...inner, 'archive'], packages: ['commander', evmLibrary, '@grpc/*', 'log-update', 'string-width', 'node:*'] },
  // These two commands do the work of workers in their own process.
  ...['cli/commands/run.ts', 'cli/commands/stream-audit.ts'].map((path): Room => ({
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

/** One import statement: what it asks for, and the names it takes from there. */
export interface ImportStatement {
  readonly line: number
  readonly specifier: string
  readonly names: readonly string[]
}

/** One broken rule, as text that names the file, the import and the rule. */
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
  // A path without placeholders is more exact than any with them: chains/port.ts before chains/<family>, bridges/gates before bridges/<protocol>/<family>.ts.
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
