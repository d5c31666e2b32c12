import { expect, test } from 'vitest'
import { messageBytes } from '../../intake/submit/message-bytes.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'

const bytes = Uint8Array.from({ length: 200 }, (_, index) => (index * 37) % 256)
const base64 = Buffer.from(bytes).toString('base64')
const hex = Buffer.from(bytes).toString('hex')

test.each([
  ['base64', base64],
  ['base64 in lines of 76, as GNU writes it', `${base64.replaceAll(/(.{76})/g, '$1\n')}\n`],
  ['base64 in lines of Windows', base64.replaceAll(/(.{64})/g, '$1\r\n')],
  ['URL-safe base64', Buffer.from(bytes).toString('base64url')],
  ['hex', hex],
  ['hex with 0x', `0x${hex}`],
  ['hex with 0X, in upper case and in lines', `0X${hex.toUpperCase().replaceAll(/(.{64})/g, '$1\n')}`],
])('a message in %s is read', (_, text) => {
  expect([...messageBytes(text)]).toEqual([...bytes])
})

test.each(['', ' \n', '%%%', 'AQAAA', '0x123', '=AQ=', 'abc', `${hex}0`, `0x${hex}0`, '0xyz'])(
  'the text %j is refused as a message',
  (text) => {
    expect(() => messageBytes(text)).toThrow(RelayerError)
  },
)
