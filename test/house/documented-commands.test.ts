import { CommanderError } from 'commander'
import { describe, expect, test } from 'vitest'
import { argvOf, commandLines, documentedCommands, parseCommand } from '../helpers/documented-commands.ts'

const all = documentedCommands()

/** The code of commander's error for a line. Undefined if commander accepts the line. */
const fault = (argv: readonly string[]) =>
  parseCommand(argv).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof CommanderError) return error.exitCode === 0 ? undefined : error.code
      throw error
    },
  )

test.each(all.map(({ document, line, argv }) => [document, line, argv] as const))('%s: %s', async (_, __, argv) => {
  expect(await fault(argv)).toBeUndefined()
})

describe('a documented line', () => {
  test('documented command lines are found in many documents, however they are written', () => {
    expect(new Set(all.map(({ document }) => document)).size).toBeGreaterThan(4)
    expect(all.length).toBeGreaterThan(80)
    const text = [
      ...['```sh', 'alias portage="node $PWD/bin/portage.js"', 'A=1 portage run --role all', 'export T=$(portage token list | tail -n 1)'],
      ...[
        'node bin/portage.js --config x.yaml doctor',
        'npx portage --help',
        'docker run portage:0.1.0 x',
        'portage lane \\',
        '  list',
        '```',
      ],
    ]
    expect(commandLines(text.join('\n'))).toEqual([
      'portage run --role all',
      'portage token list | tail -n 1)',
      'portage --config x.yaml doctor',
      'portage --help',
      'portage lane list',
    ])
  })

  test('a documented line is split as a shell splits it', () => {
    expect(argvOf(`portage node add <chain> me 'https://host/v3/\${KEY}#a' --reason <text> # and so on`)).toEqual([
      ...['node', 'add', 'bsc', 'me', 'https://host/v3/${KEY}#a', '--reason', 'a reason'],
    ])
    expect(argvOf('portage token list | tail -n 1)')).toEqual(['token', 'list'])
    expect(argvOf('portage config schema > portage.schema.json')).toEqual(['config', 'schema'])
    expect(() => argvOf('portage lane show <unheard>')).toThrow('<unheard> has no sample')
  })

  test.each([
    ['an unknown command', 'portage lane dance', 'commander.unknownCommand'],
    ['an unknown option', 'portage lane list --fast', 'commander.unknownOption'],
    ['a missing argument', 'portage lane show', 'commander.missingArgument'],
    ['a missing option', 'portage lane pause <lane>', 'commander.missingMandatoryOptionValue'],
    ['one argument too many', 'portage lane show <lane> <lane>', 'commander.excessArguments'],
    ['a value that cannot be', 'portage run --role captain', 'commander.invalidArgument'],
  ])('a documented line is refused with %s', async (_, line, code) => {
    expect(await fault(argvOf(line))).toBe(code)
  })
})
