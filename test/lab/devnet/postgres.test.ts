import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../../lab/devnet/run.ts'
import { findPostgres, startPostgres } from '../../../lab/devnet/temporal/postgres.ts'

const programs = await findPostgres()
if (!programs) process.stderr.write("NOT RUN: test/lab/devnet/postgres.test.ts: PostgreSQL's programs were not found\n")

test.runIf(programs)('a PostgreSQL of our own has databases from files of SQL, and nothing is left of it', async () => {
  if (!programs) return
  const dir = await mkdtemp(join(tmpdir(), 'portage-postgres-'))
  const file = join(dir, 'schema.sql')
  await writeFile(file, 'CREATE TABLE one (two INT);')
  const postgres = await startPostgres({ programs, dir: `${dir}-data`, synchronousCommit: false })
  const ask = async (sql: string) => {
    const [host = '', port = ''] = postgres.address.split(':')
    const where = ['--host', host, '--port', port, '--username', postgres.user, '--dbname', 'kept']
    return (await run(programs.psql, [...where, '--tuples-only', '--no-align', '--command', sql])).stdout.trim()
  }
  try {
    await postgres.createDatabase('kept', file, 'INSERT INTO one VALUES (7);')
    expect(await ask('SELECT two FROM one')).toBe('7')
    expect(await ask('SHOW synchronous_commit')).toBe('off')
    await expect(postgres.createDatabase('other', file, 'nonsense')).rejects.toThrow('psql: ')
  } finally {
    await postgres.stop()
    await rm(dir, { recursive: true, force: true })
  }
  const { stdout } = await run('ls', [tmpdir()])
  expect(stdout).not.toContain(`${dir.split('/').at(-1)}`)
})

test('where the programs are not found, there are none', async () => {
  const found = await findPostgres({ PATH: '/nowhere' }, '/nowhere')
  expect(found).toBeUndefined()
})
