import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readDevnetChains } from '../devnet/published-files.ts'
import { authorDevnet } from './author-devnet.ts'
import { type Author, testPlugin } from './suite.ts'

const help = `Usage: npx tsx lab/plugins/main.ts <test|deploy|send> <module> [--with <file>]

  test     tests the plug-in on a devnet of its own, like \`portage plugin test\`
  deploy   calls deploy on the devnet of \`npm run devnet\`, and prints the settings of the plug-in as JSON
  send     calls send on the same devnet

  --with <file>   the file that exports deploy and send (default: plugin.test.mjs for plugin.mjs)
`

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { with: { type: 'string' }, help: { type: 'boolean', default: false } },
  })
  const [command = '', module] = positionals
  if (values.help || module === undefined || !['test', 'deploy', 'send'].includes(command)) {
    process.stdout.write(help)
    return values.help ? 0 : 2
  }
  const author = await authorOf(values.with ?? module.replace(/\.(m?js)$/, '.test.$1'))
  if (command === 'test') {
    const results = await testPlugin(resolve(module), author, (line) => void process.stderr.write(`${line}\n`))
    process.stdout.write(
      results
        .map(
          ({ what, problem }) => `${problem === undefined ? 'ok    ' : 'FAILED'} ${what}${problem === undefined ? '' : `: ${problem}`}\n`,
        )
        .join(''),
    )
    return results.every(({ problem }) => problem === undefined) ? 0 : 1
  }
  const devnet = authorDevnet(await readDevnetChains())
  if (command === 'send') await author.send(devnet)
  else process.stdout.write(`${JSON.stringify(await author.deploy(devnet), undefined, 2)}\n`)
  return 0
}

async function authorOf(file: string): Promise<Author> {
  const { deploy, send } = (await import(pathToFileURL(resolve(file)).href)) as Partial<Author>
  if (typeof deploy === 'function' && typeof send === 'function') return { deploy, send }
  throw new Error(`${file} does not export the functions deploy and send`)
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
