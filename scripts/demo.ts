import { demo } from '../devnet/demo/main.ts'
import { parseOptions } from '../devnet/demo/options.ts'

process.exitCode = await demo(parseOptions(process.argv.slice(2)))
