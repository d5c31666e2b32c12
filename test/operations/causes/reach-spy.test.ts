import { expect, test } from 'vitest'
import { freePort } from '../../../lab/devnet/ports.ts'
import { reachSpy } from '../../../operations/causes/collect.ts'

test('an unreachable spy is an error with its address and the reason of the connection', async () => {
  const address = `127.0.0.1:${await freePort()}`
  await expect(reachSpy({ address }, 200)).rejects.toMatchObject({
    code: 'SPY_UNAVAILABLE',
    facts: { address },
    cause: expect.objectContaining({ message: expect.stringMatching(/\w/) }),
  })
})
