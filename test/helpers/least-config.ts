export const contracts = { core: `0x${'c0'.repeat(20)}`, tokenBridge: `0x${'b0'.repeat(20)}` }
export const least = `
chains:
  ethereum:
    family: evm
    networkId: 1
    wormholeChainId: 2
    nodes: [{ url: "https://node.example/v3/\${NODE_KEY}" }]
    blockTimeMs: 12000
    contracts: { core: '${contracts.core}', tokenBridge: '${contracts.tokenBridge}' }
bridges:
  wormhole-token-bridge: {}
`
export const env = { NODE_KEY: 'abcdef0123456789' }
