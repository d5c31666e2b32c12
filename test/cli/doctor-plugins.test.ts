import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileFinding, routeFinding } from '../../cli/doctor/plugins.ts'
import { contract, routes, source, write } from '../bridges/plugin-source.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const folder = temporaryFolder()

test('portage doctor compares the file of a plug-in with its SHA-256 in the config', async () => {
  const file = await write(folder, source())
  expect(await fileFinding(file)).toBe(`${file.module}, as added`)
  expect(await fileFinding({ ...file, sha256: 'ab'.repeat(32) })).toMatchObject({
    status: 'fail',
    detail: `${file.module} has changed since it was added`,
  })
  // A process with keys needs no file.
  const missing = join(folder, 'none.mjs')
  expect(await fileFinding({ ...file, module: missing })).toMatchObject({ status: 'warn', detail: `${missing} cannot be read here` })
})

test('portage doctor checks that each contract of the routes of a plug-in exists', async () => {
  const shownBy = `0x${'bb'.repeat(20)}`
  const coins = { atMost: '1', delivered: { contract: shownBy, view: 'isDone(bytes32)', args: ['$digest'], is: 'true' } }
  const [route] = routes
  const paid = { ...route!, calls: [{ ...route!.calls[0]!, coins }] }
  const reader = (...there: string[]) => ({ hasCode: async (address: string) => there.includes(address) })
  expect(await routeFinding(reader(contract), route!)).toBe(`${contract} on bsc`)
  expect(await routeFinding(reader(contract, shownBy), paid)).toBe(`${contract}, ${shownBy} on bsc`)
  for (const [missing, there, one] of [
    [contract, [], route!],
    [shownBy, [contract], paid],
  ] as const)
    expect(await routeFinding(reader(...there), one)).toMatchObject({ status: 'fail', detail: `${missing} has no code on this network` })
})
