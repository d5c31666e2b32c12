import fc from 'fast-check'
import { RpcError } from '../../chains/evm/nodes/node-errors.ts'
import { createClassifier } from '../../chains/evm/transactions/send.ts'
import { revertOf } from '../../chains/evm/transactions/simulate.ts'
import { parse, parseFeeScope } from '../../cli/arguments/options.ts'
import { amountText, exactAmountText } from '../../domain/text/amounts.ts'
import { harmless, oneLine, printable } from '../../domain/text/printable.ts'
import { redactFields, redactText } from '../../observability/redact.ts'
import { nearlyText, orLong } from './arbitraries.ts'
import { type FuzzTarget, isUsage, target } from './fuzz.ts'

const address = `0x${'ab'.repeat(20)}`
const classify = createClassifier()
const never = () => false

export const textTargets: readonly FuzzTarget[] = [
  target(
    'cli-amount',
    orLong(fc.oneof(nearlyText('0.05ether', ['gwei', '.', '-', 'e', '9'.repeat(80), ' ']), fc.string()), '0.0'),
    (text) => {
      const { wei, coin } = parse.amount(text)
      return [amountText(wei, coin), exactAmountText(wei, coin)]
    },
    isUsage,
  ),
  target(
    'cli-fee-scope',
    orLong(fc.oneof(nearlyText(`call:bsc/${address}/0x12345678`, ['/', ':', 'global', 'lane:', 'transfer:']), fc.string()), 'call:bsc/'),
    parseFeeScope,
    isUsage,
  ),
  target(
    'cli-values',
    fc.tuple(
      fc.constantFrom(...(Object.keys(parse) as (keyof typeof parse)[])),
      orLong(
        fc.oneof(
          fc.string(),
          fc.constantFrom('1', '0x', '18446744073709551616', address, 'http://', 'http://[::1', '1.1.1', '9'.repeat(400)),
        ),
        'http://a',
      ),
    ),
    ([name, text]) => parse[name](text),
    isUsage,
  ),
  target(
    'send-answer',
    orLong(
      nearlyText('execution reverted: not enough counters, data: "0x"', ['data:', 'gas price', 'nonce too low', '0x', ' ']),
      'gas price ',
    ),
    (message) => {
      const error = new RpcError('https://a.example', 'eth_call', { code: 3, message, data: message })
      return [classify(message), revertOf(error)?.reason]
    },
    never,
  ),
  target(
    'log-text',
    orLong(nearlyText('https://user:secret@a.example/key, password=x, bearer abc', ['secret', '=', 'http://', ')', '"']), 'http://a'),
    (text) => {
      if (redactText(text).length > 40_000) throw new Error('a long text was not cut')
      return [redactFields({ text }), oneLine(text), harmless(printable(text))]
    },
    never,
  ),
]
