import { describe, expect, test } from 'vitest'
import { majorityWarnings } from '../../domain/settings/known-names.ts'
import type { NodeChange, SettingsOrder } from '../../domain/settings/settings.ts'

const voters = { bsc: ['node-1', 'node-2', 'node-3'], base: ['node-1', 'node-2'], alone: ['node-1'] }
const disabled = (chain: string, name: string): NodeChange => ({ chain, name, disabled: true })
const order = (change: NodeChange): SettingsOrder => ({ kind: 'setNode', change })
/** The warnings about the last of these changes. */
const after = (...nodes: NodeChange[]) => majorityWarnings([order(nodes.at(-1)!)], { nodes }, voters)

describe('A node is disabled', () => {
  test('disabling a node causes no warning while a majority of all configured nodes is enabled', () => {
    expect(after(disabled('bsc', 'node-2'))).toEqual([])
    expect(after(disabled('base', 'node-2'), disabled('bsc', 'node-2'))).toEqual([])
  })

  test('disabling a node causes a warning where less than a majority of configured nodes is left', () => {
    const [two] = after(disabled('bsc', 'node-1'), disabled('bsc', 'node-2'))
    expect(two).toContain('1 of the 3 nodes of bsc that read is enabled, and a majority is 2')
    expect(after(disabled('base', 'node-2'))).toEqual([expect.stringContaining('1 of the 2 nodes of base')])
    expect(after(disabled('alone', 'node-1'))).toEqual([expect.stringContaining('alone has no enabled node in the config for reads')])
  })

  test('disabling an added node, or one that only sends, causes no warning', () => {
    expect(after(disabled('base', 'node-2'), disabled('base', 'spare'))).toEqual([])
    expect(after(disabled('unknown', 'node-1'))).toEqual([])
  })

  test('no other order causes a warning of the majority', () => {
    const nodes = [disabled('base', 'node-2')]
    expect(
      majorityWarnings([{ kind: 'halt', scope: {} }, order({ ...disabled('base', 'node-1'), disabled: false })], { nodes }, voters),
    ).toEqual([])
  })
})
