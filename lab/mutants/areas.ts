/** Parts of the product (`mutate`) in which a change of any line must make one of the unit tests (`tests`) fail. */
export const areas = {
  signers: { mutate: ['chains/evm/signers/*.ts'], tests: ['test/chains/evm-signers*.test.ts', 'test/workers/*.test.ts'] },
  access: {
    mutate: ['operations/access/*.ts'],
    tests: ['test/operations/access/*.test.ts', 'test/api/*.test.ts', 'test/cli/*access*.test.ts'],
  },
  lane: { mutate: ['domain/lane/**/*.ts'], tests: ['test/domain/*.test.ts'] },
  stream: { mutate: ['domain/stream/**/*.ts'], tests: ['test/domain/*.test.ts'] },
  domain: { mutate: ['domain/**/*.ts', '!domain/{lane,stream}/**'], tests: ['test/domain/*.test.ts'] },
  lanes: { mutate: ['lanes/**/*.ts'], tests: ['test/lanes/*.test.ts'] },
  transfer: { mutate: ['workflows/transfer/*.ts'], tests: ['test/workflows/*.test.ts'] },
} as const satisfies Record<string, { readonly mutate: readonly string[]; readonly tests: readonly string[] }>

export type Area = keyof typeof areas
