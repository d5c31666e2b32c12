import fc from 'fast-check'
import { expect, test } from 'vitest'
import { networkOf } from '../../../runtime/http/server-limits.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::1', '0:0:0:0'],
  ['2001:db8::', '2001:db8:0:0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['fe80::1:2%eth0', 'fe80:0:0:0'],
])('connections of %s count for %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test('IPv6 addresses count together exactly if their first 64 bits are the same', () => {
  const groups = fc.array(fc.constantFrom('0', '1', 'ab', 'ffff'), { minLength: 8, maxLength: 8 })
  // The first group is never 0, so no address is a mapped IPv4 address.
  const address = groups.map((all) => ['2001', ...all.slice(1)])
  fc.assert(
    fc.property(address, address, (a, b) => {
      const isSame = a.slice(0, 4).join() === b.slice(0, 4).join()
      expect(networkOf(shortened(a)) === networkOf(b.join(':'))).toBe(isSame)
    }),
  )
})

/** Replaces the first run of zeros by `::`, as Node and most systems do. */
function shortened(groups: readonly string[]): string {
  const text = groups.join(':')
  return text.includes('::') ? text : text.replace(/(^|:)0(:0)*(:|$)/, '::')
}
