import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { checkFile, importsOf, sourceFiles } from '../../scripts/check-rooms.ts'
import { rooms } from '../../scripts/rooms.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('folder rules', () => {
  test.each([
    ['domain/lane/lane.ts', `import { readFileSync } from 'node:fs'`, 'domain may import only itself from outside'],
    ['domain/lane/lane.ts', `import { x } from '../../temporal/contracts/names.ts'`, 'domain may import only itself'],
    ['domain/lane/lane.ts', `import type { Wallet } from 'ethers'`, 'domain may import only itself from outside'],
    ['workflows/transfer/transfer.ts', `import { createHash } from 'crypto'`, 'workflows may import only'],
    ['workflows/transfer/transfer.ts', `import { JsonRpcProvider } from 'ethers'`, 'workflows may import only'],
    ['workflows/transfer/transfer.ts', `import { createActivities } from '../../activities/index.ts'`, 'workflows may import only'],
    ['workflows/transfer/transfer.ts', `const fs = await import('node:fs')`, 'workflows may import only'],
    ['workflows/transfer/transfer.ts', `const fs = await import(name)`, '(computed)'],
    ['workflows/transfer/transfer.ts', `export * from '../../lanes/agent.ts'`, 'workflows may import only'],
    ['temporal/contracts/lane.ts', `import { sleep } from '@temporalio/workflow'`, 'not sleep'],
    ['temporal/contracts/lane.ts', `import * as wf from '@temporalio/workflow'`, 'not *'],
    ['chains/port.ts', `import { x } from './evm/index.ts'`, 'chains/port.ts may import only'],
    ['chains/evm/nodes/nodes.ts', `import type { ChainConfig } from '../../config/schema/schema.ts'`, 'chains/<family> may import only'],
    ['chains/solana/nodes.ts', `import { nodes } from '../evm/nodes.ts'`, 'chains/<family> may import only'],
    ['bridges/native-bridge/message.ts', `import { evmChain } from '../../chains/evm/index.ts'`, 'may import only'],
    ['bridges/native-bridge/evm.ts', `import { nodes } from '../../chains/evm/nodes/nodes.ts'`, 'may import only'],
    ['bridges/native-bridge/evm.ts', `import { x } from '../wormhole-token-bridge/token-bridge.ts'`, 'may import only'],
    ['activities/transfer/broadcast.ts', `import { chains } from '../../chains/registry.ts'`, 'activities may import only'],
    ['lanes/agent.ts', `import { Worker } from '@temporalio/worker'`, 'lanes may import only'],
    ['intake/spy/spy.ts', `import { serve } from '../../api/server.ts'`, 'intake may import only'],
    ['config/load/load.ts', `import { logger } from '../../observability/logger.ts'`, 'config may import only'],
    ['workers/process/runtime.ts', `import { createApi } from '../../api/server.ts'`, 'workers may import only'],
    ['workers/roles/chain.ts', `import { Client } from '@temporalio/client'`, 'workers may import only'],
    ['lanes/ledger/ledger-client.ts', `import type { Client } from '@temporalio/client'`, 'lanes may import only'],
    ['intake/streams/stream-client.ts', `import { WorkflowNotFoundError } from '@temporalio/common'`, 'intake may import only'],
    ['temporal/recovery/remedies.ts', `import type { WorkflowHandle } from '@temporalio/client'`, 'temporal/recovery may import only'],
    ['intake/submit/submitter.ts', `import { ServiceError } from '@temporalio/client'`, 'intake may import only'],
    ['cli/temporal.ts', `import { Connection } from '@temporalio/client'`, 'cli may import only'],
    ['cli/commands/settings/settings.ts', `import { runRole } from '../../../workers/process/runtime.ts'`, 'cli may import only'],
    ['cli/commands/run.ts', `import { demo } from '../../lab/demo/main.ts'`, 'may import only'],
    ['temporal/client/lanes/lanes.ts', `import { LaneAgent } from '../../lanes/agent.ts'`, 'temporal/client may import only'],
    ['api/server.ts', `import { runRole } from '../workers/runtime.ts'`, 'api may import only'],
    ['cli/commands/settings/settings.ts', `import { createApi } from '../../../api/server.ts'`, 'cli may import only'],
    ['nowhere/new.ts', `import { x } from './y.ts'`, 'no room has this path'],
  ])('%s: %s is refused', (file, text, rule) => {
    const problems = checkFile(file, text)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(rule)
    expect(problems[0]).toContain(file)
  })

  test.each([
    ['temporal/contracts/lane.ts', `import { defineSignal } from '@temporalio/workflow'`],
    ['workflows/lane.ts', `import { apply } from '../domain/lane/reducer.ts'`],
    ['chains/evm/signers/local.ts', `import { Wallet } from 'ethers'\nimport { x } from '../nodes/nodes.ts'`],
    ['bridges/native-bridge/evm.ts', `import { abi } from '../../chains/evm/index.ts'\nimport { decode } from './message.ts'`],
    ['bridges/native-bridge/verify.ts', `import { endpoint } from './evm.ts'`],
    ['chains/registry.ts', `import { evmChain } from './evm/index.ts'`],
    ['cli/commands/run.ts', `import { runRole } from '../../workers/process/runtime.ts'\nimport { restApi } from '../../api/server.ts'`],
    ['lab/demo/main.ts', `import { Client } from '@temporalio/client'\nimport { runRole } from '../../workers/process/runtime.ts'`],
    ['test/lanes/agent.test.ts', `import { fork } from 'node:child_process'\nimport { run } from '../../workers/all.ts'`],
  ])('%s: %s is allowed', (file, text) => {
    expect(checkFile(file, text)).toEqual([])
  })

  test('the check of folder rules finds imports, type imports, re-exports and import(), with their lines', () => {
    const text = `import a, { b as c } from './a.ts'\nimport type { D } from './d.ts'\nimport './e.ts'\nexport { f } from './f.ts'\nvoid import('./g.ts')\n`
    expect(importsOf('test/x.ts', text)).toEqual([
      { line: 1, specifier: './a.ts', names: ['*', 'b'] },
      { line: 2, specifier: './d.ts', names: ['D'] },
      { line: 3, specifier: './e.ts', names: [] },
      { line: 4, specifier: './f.ts', names: ['f'] },
      { line: 5, specifier: './g.ts', names: ['*'] },
    ])
  })

  test('docs/ARCHITECTURE.md has a row for every folder of the import rules', () => {
    const text = readFileSync(`${root}docs/ARCHITECTURE.md`, 'utf8')
    for (const room of rooms) expect(text, `docs/ARCHITECTURE.md has no row for ${room.path}`).toContain(`\`${room.path}\``)
  })

  test('only temporal/client calls the methods of a Temporal client', () => {
    const calls = /\bclient\.(workflow|schedule|workflowService|activity|connection|options|withDeadline)\b|\.getHandle\(/
    const free = /^(temporal\/client|lab|test|scripts)\//
    const reaching = sourceFiles(root).filter((file) => !free.test(file) && calls.test(readFileSync(root + file, 'utf8')))
    expect(reaching).toEqual([])
  })

  test('Temporal clients and Workers are each made in one place, where they get the codec', () => {
    const places = [/\bnew Client\(\{ connection/, /\bWorker\.create\(/, /\bdefault(Payload|Failure)Converter\b|\w\??\.payloads\b/]
    const free = /^(lab|test|scripts)\//
    const sources = sourceFiles(root).filter((file) => !free.test(file))
    const found = places.map((place) => sources.filter((file) => place.test(readFileSync(root + file, 'utf8'))))
    // The only exceptions: the codec server gets payloads from other programs, start-transfer.ts decodes the first
    // event of a run where it reads the event, and trace headers are never encrypted.
    expect(found).toEqual([
      ['temporal/client/connection/connect.ts'],
      ['workers/process/create-worker.ts'],
      ['operations/codec/server.ts', 'temporal/client/transfers/start-transfer.ts', 'workflows/trace-headers.ts'],
    ])
  })

  test('every source file of the repository keeps the folder rules', () => {
    const files = sourceFiles(root)
    expect(files).toContain('domain/lane/reducer/reducer.ts')
    expect(files).toContain('test/house/rooms.test.ts')
    expect(files.flatMap((file) => checkFile(file, readFileSync(root + file, 'utf8')))).toEqual([])
  })
})
