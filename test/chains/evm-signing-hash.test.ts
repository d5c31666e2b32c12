import { SigningKey, Transaction } from 'ethers'
import { expect, test } from 'vitest'
import { signingHashOf } from '../../chains/evm/transactions/mined.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'

const to = devnetAccount(1).address

test('signing hashes are recomputed from a node’s transaction of each type and parity', () => {
  const key = new SigningKey(devnetAccount(3).privateKey)
  for (const type of [0, 1, 2]) {
    for (let nonce = 0; nonce < 8; nonce++) {
      const transaction = Transaction.from({
        type,
        chainId: 31_337,
        nonce,
        to,
        value: 5n,
        data: '0x1234',
        gasLimit: 50_000n,
        ...(type === 2 ? { maxFeePerGas: 7n, maxPriorityFeePerGas: 3n } : { gasPrice: 7n }),
        ...(type > 0 && { accessList: [{ address: to, storageKeys: [`0x${'1'.repeat(64)}`] }] }),
      })
      transaction.signature = key.sign(transaction.unsignedHash)
      const { signature } = transaction
      const hex = (value: bigint | number | null) => `0x${BigInt(value ?? 0).toString(16)}`
      const raw = {
        hash: transaction.hash,
        from: transaction.from,
        type: hex(type),
        chainId: hex(31_337),
        nonce: hex(nonce),
        to,
        value: '0x5',
        input: '0x1234',
        gas: hex(50_000),
        gasPrice: '0x7',
        maxFeePerGas: '0x7',
        maxPriorityFeePerGas: '0x3',
        accessList: transaction.accessList,
        r: hex(BigInt(signature.r)),
        s: hex(BigInt(signature.s)),
        v: hex(type === 0 ? BigInt(signature.yParity) + 35n + 2n * 31_337n : signature.yParity),
      }
      expect(signingHashOf(raw)).toBe(transaction.unsignedHash)
      expect(() => signingHashOf({ ...raw, value: '0x6' })).toThrow('not the transaction of this hash')
    }
  }
})
