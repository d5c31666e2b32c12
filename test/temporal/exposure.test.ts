import { expect, test } from 'vitest'
import { payloadExposure } from '../../temporal/client/connection/exposure.ts'

const encryption = { keys: [{ id: 'one', source: { from: 'a test', read: () => '' } }], required: false }
const at = (address: string) => ({ address, namespace: 'default' })

test.each(['temporal:7233', '10.0.0.7:7233', '[2001:db8::1]:7233', 'localhost.example:7233', 'portage.a1b2c.tmprl.cloud:7233'])(
  'an attacker with %s reads the payloads that are not encrypted',
  (address) => {
    expect(payloadExposure(at(address))).toMatchObject({
      what: expect.stringContaining(address),
      remedy: expect.stringContaining('temporal.encryption'),
    })
    expect(payloadExposure({ ...at(address), encryption })).toBeUndefined()
  },
)

test.each(['127.0.0.1:7233', 'localhost:7233', '[::1]:7233'])(
  'the plain payloads of a Temporal on this machine (%s) are not reported',
  (address) => {
    expect(payloadExposure(at(address))).toBeUndefined()
  },
)
