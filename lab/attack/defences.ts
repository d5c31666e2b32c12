import { join } from 'node:path'
import { type Change, copyEdited } from '../edited-copy.ts'
import type { AttackSummary } from './judge.ts'
import type { AttackKind } from './plan.ts'

/** A defence of the product, the edits that remove the defence, and the attacks that then succeed. */
export interface Defence extends Change {
  readonly exposedBy: readonly AttackKind[]
  /** Counts of the summary. Without the defence, at least one of them is not 0. */
  readonly shownBy: readonly (keyof AttackSummary)[]
  readonly needsPlugin?: true
}

export const defences = {
  'cost-limit': {
    file: 'chains/evm/signers/policy.ts',
    edits: [["    ['maxCostPerTransactionWei', costOf(transaction, dataFee)],\n", '']],
    exposedBy: ['overspend'],
    shownBy: ['overCap'],
  },
  'hour-limit': {
    file: 'chains/evm/signers/spending-log.ts',
    edits: [["      ['maxSpendingPerHourWei', this.spent('hour', nowMs) + added],\n", '']],
    exposedBy: ['overspend'],
    shownBy: ['overspent'],
  },
  'day-limit': {
    file: 'chains/evm/signers/spending-log.ts',
    edits: [["      ['maxSpendingPerDayWei', this.spent('day', nowMs) + added],\n", '']],
    exposedBy: ['overspend'],
    shownBy: ['overspent'],
  },
  payees: {
    file: 'chains/evm/signers/policy.ts',
    edits: [["  if (payees.includes(to)) return 'own'\n", "  if (to !== self) return 'own'\n"]],
    exposedBy: ['forged-operator-transaction'],
    shownBy: ['stolen'],
  },
  'top-ups': {
    file: 'chains/evm/signers/policy.ts',
    edits: [["  return topUps ? 'own' :", "  return !topUps ? 'own' :"]],
    exposedBy: ['moved-coins'],
    shownBy: ['stolen'],
  },
  proofs: {
    file: 'workers/roles/signer.ts',
    edits: [
      [
        '    proveCall: (call, gasLimit) => proveCall({ bridges, targetChain: chainName }, call, gasLimit),\n',
        '    proveCall: async () => [],\n',
      ],
    ],
    exposedBy: ['forged-operator-transaction', 'forged-step'],
    shownBy: ['stolen'],
  },
  'paid-requests': {
    file: 'bridges/executor/evm.ts',
    edits: [["      if (!proved) throw unproved('No paid request for it is known here.', facts)\n", '      if (!proved) return []\n']],
    exposedBy: ['forged-operator-transaction'],
    shownBy: ['stolen'],
  },
  'route-filter': {
    file: 'bridges/kit/calls.ts',
    edits: [
      [
        'readProved(prove, getBytes(argument as BytesLike), routes, chainNames)',
        'readProved(prove, getBytes(argument as BytesLike), [...routes, ...routes.map((one) => ({ ...one, where: {} }))], chainNames)',
      ],
      // This edit empties the parties of a message that no route lists. The message has no content, so the call would
      // otherwise be refused.
      ['  if (content === undefined) throw ofNobody(signed)\n', "  if (content === undefined) return { recipient: '', token: '' }\n"],
    ],
    exposedBy: ['forged-operator-transaction'],
    shownBy: ['stolen'],
  },
  'plugin-proofs': {
    file: 'bridges/packages/endpoints.ts',
    edits: [['    proveCall: createProveCall({ ...options, prove: createProve(chain, verify) }),\n', '    proveCall: async () => [],\n']],
    exposedBy: ['forged-operator-transaction'],
    shownBy: ['stolen'],
    needsPlugin: true,
  },
  'native-table': {
    file: 'bridges/native-bridge/verify.ts',
    edits: [['  if (!same) throw new', '  if (!same && !recorded) throw new']],
    exposedBy: ['forged-existing'],
    shownBy: ['stolen'],
  },
  'guardian-majority': {
    file: 'bridges/kit/signed-messages.ts',
    edits: [["const at = 'majority-latest'", "const at = 'latest'"]],
    exposedBy: ['guardians'],
    shownBy: ['believed', 'stolen'],
  },
  'guardian-quorum': {
    file: 'bridges/kit/signed-messages.ts',
    edits: [['  const needed = quorum(set.keys.length)\n', '  const needed = Math.min(1, quorum(set.keys.length))\n']],
    exposedBy: ['spy-one-guardian'],
    shownBy: ['believed'],
  },
  emitter: {
    file: 'bridges/kit/signed-messages.ts',
    edits: [['    if (!accepts) return\n', '    if (!accepts || message) return\n']],
    exposedBy: ['spy-foreign-emitter'],
    shownBy: ['believed'],
  },
  voters: {
    file: 'chains/evm/nodes/nodes.ts',
    edits: [
      ['    readers: voters.length,\n', '    get readers() {\n      return voters.length\n    },\n'],
      ['    needed,\n', '    get needed() {\n      return Math.floor(voters.length / 2) + 1\n    },\n'],
      ['  const voters = set.configured.filter(({ reads }) => reads)\n', '  const voters = set.configured as NodeClient[]\n'],
      ['      set.adjust(changes)\n', '      set.adjust(changes)\n      voters.splice(nodes.length, Infinity, ...set.added)\n'],
    ],
    exposedBy: ['added-nodes'],
    shownBy: ['believed', 'stolen'],
  },
  'answer-size': {
    file: 'chains/evm/nodes/json-rpc-client.ts',
    edits: [
      ['const mostBytes = 32 * mib\n', 'const mostBytes = 4096 * mib\n'],
      ['(shortMethods.has(method) ? shortAnswer : (longAnswers[method] ?? mib))', 'mostBytes + 0 * method.length'],
    ],
    exposedBy: ['flood'],
    // A process that runs out of memory ends, and counts as a crash.
    shownBy: ['bloated', 'crashes'],
  },
  revocation: {
    file: 'operations/access/principals.ts',
    edits: [
      [
        "  if (row?.revoked) throw new RelayerError('ACCESS_TOKEN_REVOKED'",
        "  if (row?.revoked && !jti) throw new RelayerError('ACCESS_TOKEN_REVOKED'",
      ],
    ],
    exposedBy: ['api-revoked-token'],
    shownBy: ['unnamedOrders'],
  },
  'token-level': {
    file: 'operations/access/principals.ts',
    edits: [['  if (!reaches(level, needed)) throw', '  if (!level && !reaches(level, needed)) throw']],
    exposedBy: ['api-weak-token'],
    shownBy: ['unnamedOrders'],
  },
} as const satisfies Record<string, Defence>

export type DefenceName = keyof typeof defences

/**
 * Copies the sources without a defence, because a switch in the product that disables a defence would itself be a
 * vulnerability. Returns the copy's launcher. Throws Error if an edit no longer fits the source.
 */
export async function withoutDefence(name: DefenceName, dir: string): Promise<string> {
  await copyEdited(defences[name], dir, ['docs', 'lab', 'scripts', 'test', 'deploy'])
  return join(dir, 'bin', 'portage.js')
}

export function isNoticed(name: DefenceName, summary: AttackSummary): boolean {
  const { shownBy }: Defence = defences[name]
  return summary.notTried === 0 && shownBy.some((count) => summary[count] !== 0)
}
