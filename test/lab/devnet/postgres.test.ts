import { chmod, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { run } from '../../../lab/devnet/run.ts'
import { findPostgres, startPostgres } from '../../../lab/devnet/temporal/postgres.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const programs = await findPostgres()
if (!programs)
  process.stderr.write(
    "NOT RUN: test/lab/devnet/postgres.test.ts: PostgreSQL's programs were not found, or their user may not run them here\n",
  )

test.runIf(programs)('a PostgreSQL of our own has databases from files of SQL, and nothing is left of it', async () => {
  if (!programs) return
  const dir = temporaryFolder()
  const file = join(dir, 'schema.sql')
  await writeFile(file, 'CREATE TABLE one (two INT);')
  // A login over ssh may set a locale that this machine lacks.
  vi.stubEnv('LC_ALL', 'xx_XX.UTF-8')
  const postgres = await startPostgres({ programs, dir: `${dir}-data`, synchronousCommit: false }).finally(() => vi.unstubAllEnvs())
  const ask = async (sql: string, database = 'kept') => {
    const [host = '', port = ''] = postgres.address.split(':')
    const where = ['--host', host, '--port', port, '--username', postgres.user, '--dbname', database]
    return (await run(programs.psql, [...where, '--tuples-only', '--no-align', '--command', sql])).stdout.trim()
  }
  try {
    await postgres.createDatabase('kept', file, 'INSERT INTO one VALUES (7);')
    expect(await ask('SELECT two FROM one')).toBe('7')
    expect(await ask('SHOW synchronous_commit')).toBe('off')
    expect(await ask('SHOW server_encoding')).toBe('UTF8')
    await postgres.dump('kept', `${dir}/dump.sql`)
    await postgres.createDatabase('restored', `${dir}/dump.sql`)
    expect(await ask('SELECT two FROM one', 'restored')).toBe('7')
    await expect(postgres.createDatabase('other', file, 'nonsense')).rejects.toThrow('psql: ')
  } finally {
    await postgres.stop()
  }
  const { stdout } = await run('ls', [tmpdir()])
  expect(stdout).not.toContain(`${basename(dir)}-data`)
})

test('without its programs PostgreSQL is not found', async () => {
  const found = await findPostgres({ PATH: '/nowhere' }, '/nowhere')
  expect(found).toBeUndefined()
})

test('programs of PostgreSQL that do not run count as missing', async () => {
  const folder = temporaryFolder()
  for (const name of ['initdb', 'postgres', 'psql', 'pg_dump']) await writeFile(join(folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  // Root runs the programs as another user, who must be able to enter the folder.
  await chmod(folder, 0o755)
  expect(await findPostgres({ PATH: folder }, '/nowhere')).toBeUndefined()
})

test.runIf(programs && process.getuid?.() === 0)(
  "root's PostgreSQL counts as missing if its user may not enter the data folder",
  async () => {
    // The folder has the mode 0700, so the other user may not enter it.
    const folder = temporaryFolder()
    expect(await findPostgres(process.env, undefined, folder)).toBeUndefined()
    await chmod(folder, 0o711)
    expect(await findPostgres(process.env, undefined, folder)).toEqual(programs)
  },
)
