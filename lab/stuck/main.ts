import { stuckCases } from './cases.ts'
import { parseOptions, stuckExit } from './options.ts'
import { isClean, runStuck, tell } from './run.ts'

const { case: names, list, json } = parseOptions(process.argv.slice(2))
if (list) for (const { name, fault, code } of stuckCases) process.stdout.write(`${name}: ${fault}: ${code}\n`)
else {
  const results = await runStuck(names, (line) => process.stderr.write(`${line}\n`))
  const clean = isClean(results)
  process.stdout.write(
    json ? `${JSON.stringify({ clean, results })}\n` : `${[...results.map(tell), clean ? 'clean' : 'NOT CLEAN'].join('\n')}\n`,
  )
  process.exitCode = clean ? 0 : stuckExit.notClean
}
