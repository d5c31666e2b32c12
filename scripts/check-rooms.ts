/** Checks every import against scripts/rooms.ts. Prints the broken rules, and exits with code 1 if there are any. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import { checkImport, type ImportStatement } from './rooms.ts'

/**
 * All imports, re-exports and `import()`. An `import()` without a literal counts as `(computed)`. Throws if the text
 * does not parse.
 */
export function importsOf(file: string, text: string): ImportStatement[] {
  const { module, errors } = parseSync(file, text)
  if (errors[0]) throw new Error(`${file} does not parse: ${errors[0].message}`)
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length
  const statics = module.staticImports.map((one) => ({
    line: lineOf(one.start),
    specifier: one.moduleRequest.value,
    names: one.entries.map((entry) => entry.importName.name ?? '*'),
  }))
  const reexports = module.staticExports.flatMap((one) =>
    one.entries.flatMap((entry) =>
      entry.moduleRequest ? [{ line: lineOf(one.start), specifier: entry.moduleRequest.value, names: [entry.importName.name ?? '*'] }] : [],
    ),
  )
  const dynamics = module.dynamicImports.map((one) => {
    const literal = /^(['"`])([^'"`$]+)\1$/.exec(text.slice(one.moduleRequest.start, one.moduleRequest.end))
    return { line: lineOf(one.start), specifier: literal?.[2] ?? '(computed)', names: ['*'] }
  })
  return [...statics, ...reexports, ...dynamics]
}

/** The broken rules of one file. `file` is relative to the repository, with slashes. */
export function checkFile(file: string, text: string): string[] {
  return importsOf(file, text).flatMap((statement) => checkImport(file, statement) ?? [])
}

export function sourceFiles(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .flatMap((entry) =>
      entry.isDirectory()
        ? readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' }).map(
            (name) => `${entry.name}/${name.split(sep).join('/')}`,
          )
        : [entry.name],
    )
    .filter((name) => /\.(ts|tsx|mts|js|mjs)$/.test(name))
}

function main(): void {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const files = sourceFiles(root)
  const problems = files.flatMap((file) => checkFile(file, readFileSync(join(root, file), 'utf8')))
  for (const problem of problems) console.error(problem)
  console.log(`rooms: ${files.length} files, ${problems.length} broken rules`)
  if (problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
