import { Command, InvalidArgumentError, Option } from 'commander'

export const modelNames = ['lane', 'stream'] as const
export type ModelName = (typeof modelNames)[number]

export interface ModelOptions {
  readonly only?: ModelName
  readonly traces: number
  readonly seed: number
  readonly json: boolean
}

const help = `
Checks the models of lab/model (TLA+): the transfers, the nonce ledger and the processes of a lane (Lane.tla), and the proof
of a stream (Stream.tla), in three steps:

1. TLC visits every state of each scope (lab/model/bounds), and checks the rules of docs/ARCHITECTURE.md in each.
2. Each mutant removes one rule from the model. TLC must then find a violation of the invariant that the mutant names.
3. TLC makes random runs of the models. The reducers of domain/ repeat the steps, and must be in the model's state after
   each step.

Needs Java 11. TLC is downloaded once with pip into the cache (see lab/model/tools.ts).

Examples:
  npm run model
  npm run model -- --only lane --json
  npm run model -- --only stream --traces 1000 --seed 7

Exit code: 0 if all rules hold, all mutants were found and the reducers agree (or if Java or pip is missing: NOT RUN);
1 otherwise; 2 for wrong usage.`

export function parseOptions(args: readonly string[]): ModelOptions {
  return new Command('model')
    .description('Checks the models of lanes and streams in every state, and compares the reducers with them.')
    .addOption(new Option('--only <model>', 'only this model').choices(modelNames))
    .option('--traces <n>', 'number of random runs of each model that the reducers repeat', whole, 300)
    .option('--seed <n>', 'seed of the random runs', whole, 1)
    .option('--json', 'print only the result, as one JSON object, on stdout', false)
    .addHelpText('after', help)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .parse(args, { from: 'user' })
    .opts<ModelOptions>()
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number of at least 1')
  return Number(text)
}
