import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../config/load/load.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { contracts, least, env } from '../helpers/least-config.ts'

function problemsOf(text: string, environment: NodeJS.ProcessEnv = env): string {
  try {
    parseConfig(text, environment, 'portage.yaml')
  } catch (error) {
    if (error instanceof RelayerError && error.code === 'CONFIG_INVALID') return error.message
    throw error
  }
  throw new Error('this config has no problems')
}

describe('a good config', () => {
  test('a good config gets its defaults', () => {
    const config = parseConfig(least, env, 'portage.yaml')
    expect(config).toMatchInlineSnapshot(`
      {
        "access": {
          "publicKeys": [],
        },
        "admin": {
          "host": "127.0.0.1",
          "hosts": [],
          "port": 0,
        },
        "api": {
          "host": "127.0.0.1",
          "hosts": [],
          "port": 8099,
          "requestsPerMinute": 6000,
        },
        "audit": {
          "everyMinutes": 10,
          "hours": 24,
        },
        "bridges": {
          "wormhole-token-bridge": {
            "calls": {},
            "emitters": {},
            "freeRoutes": [],
            "guardianApis": [],
            "minimumFees": {},
            "prices": {},
            "spies": [],
            "streams": {},
            "wormholescanApis": [],
          },
        },
        "chains": {
          "ethereum": {
            "blockTimeMs": 12000,
            "bumpAfterBlocks": 3,
            "callFees": {},
            "contracts": {
              "core": "0xc0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0",
              "tokenBridge": "0xb0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0",
            },
            "family": "evm",
            "feeHistory": {
              "blocks": 4,
              "percentile": 50,
            },
            "feeModel": "ethereum",
            "finality": {
              "kind": "tag",
            },
            "lanes": [],
            "networkId": 1,
            "nodes": [
              {
                "url": "https://node.example/v3/abcdef0123456789",
                "use": "all",
              },
            ],
            "send": "public",
            "shadow": false,
            "signing": {
              "maxCostPerTransactionWei": "1000000000000000000",
              "maxDataFeePerTransactionWei": "100000000000000000",
              "maxGasPerTransaction": 16777216,
              "maxPaymentWei": "10000000000000000000",
              "maxSpendingPerDayWei": "50000000000000000000",
              "maxSpendingPerHourWei": "10000000000000000000",
              "maxTipPerGasWei": "10000000000000",
              "topUps": false,
            },
            "urlVariables": [],
            "wormholeChainId": 2,
          },
        },
        "codecServer": {
          "host": "127.0.0.1",
          "hosts": [],
          "origins": [],
          "port": 8098,
        },
        "dataFolder": "portage-data",
        "notifications": [],
        "streams": {
          "auditMinutes": 5,
          "lookBackDays": 7,
          "rangeBlocks": 2000,
          "uncountedAfterMinutes": 10,
        },
        "telemetry": {
          "traceRatio": 1,
        },
        "temporal": {
          "address": "127.0.0.1:7233",
          "namespace": "default",
          "useEnvironment": true,
        },
        "transfers": {
          "abandonAfterMinutes": 3,
          "maxGas": 3000000,
          "maxLossPerTokenPerHourWei": "50000000000000000",
          "parkAfterReverts": 5,
          "parkAfterSpentNonces": 20,
          "priority": 3,
          "quarantineSeconds": 60,
        },
        "worker": {
          "fillAfterSeconds": 60,
          "heartbeatSeconds": 15,
          "laneTaskSeconds": 60,
          "shutdownForceSeconds": 20,
          "shutdownGraceSeconds": 5,
          "stickySeconds": 10,
          "workflowTaskSeconds": 10,
        },
      }
    `)
  })

  test('a good config takes addresses without quotes, which YAML would read as numbers', () => {
    const config = parseConfig(least.replace(`'${contracts.core}'`, contracts.core.toUpperCase().replace('0X', '0x')), env, 'portage.yaml')
    expect(config.chains['ethereum']?.contracts?.core).toBe(contracts.core)
  })

  test('a good config may list texts for one class of errors without the other classes', () => {
    const texts = (name: string) => least.replace('blockTimeMs: 12000', `blockTimeMs: 12000\n    errors: { ${name}: [account is frozen] }`)
    expect(parseConfig(texts('fatal'), env, 'portage.yaml').chains['ethereum']?.errors).toEqual({ fatal: ['account is frozen'] })
    expect(problemsOf(texts('deadly'))).toContain('errors.deadly is not a field of the config. Remove it; known here: nonce-too-low,')
  })

  test('a good config names tokens in one way, however they are written', () => {
    const token = 'C02AAA39B223FE8D0A0E5C4F27EAD9083C756CC2'.padStart(64, '0')
    const fees = `    assets: ['2/0x${token}']\n    minimumFees: { ethereum: { '2/0x${token}': '5' } }\n`
    const bridge = parseConfig(least.replace(' {}\n', `\n${fees}`), env, 'portage.yaml').bridges['wormhole-token-bridge']
    expect(bridge?.minimumFees).toEqual({ ethereum: { [`2/${token.toLowerCase()}`]: '5' } })
    expect(bridge?.assets).toEqual([`2/${token.toLowerCase()}`])
  })
})

describe('problems', () => {
  test('problems are listed all at once, with field and remedy', () => {
    const text = `
temporal: { adress: localhost:7233 }
chains:
  Ethereum: {}
  one:
    family: solana
    networkId: '1'
    wormholeChainId: 2
    nodes: [{ url: 'ftp://node.example' }]
    finality: { kind: depth, blocks: 0 }
    lanes:
      - { address: 0x1, signer: { kind: hsm } }
      - { address: '0x00000000000000000000000000000000000000aa', signer: { kind: keystore, fil: a.json } }
      - { address: '0x00000000000000000000000000000000000000AA', window: 500 }
  two:
    family: evm
    networkId: 5
    wormholeChainId: 2
    nodes: []
    blockTimeMs: 1
    contracts: { core: '${contracts.core}', tokenBridge: 1 }
  three:
    family: evm
    networkId: 5
    wormholeChainId: 70000
    nodes: [{ url: '\${MISSING_URL}' }]
    finality: { kind: soon }
    blockTimeMs: 1000
    contracts:
bridges:
  wormhole-token-bridge:
    guardianApis: https://guardian.example
    minimumFees:
      four: { '2/11': '1' }
      two: { '2/${'0'.repeat(64)}': 100000000000000000000, '2/0x${'0'.repeat(64)}': '1' }
    calls:
      five: { '${contracts.core}': 'redeem()' }
extra: 1
`
    expect(problemsOf(text)).toMatchInlineSnapshot(`
      "The config has problems. portage.yaml:
        - chains.three.nodes[0].url needs the environment variable MISSING_URL, which is not set. Set MISSING_URL before starting.
        - temporal.adress is not a field of the config. Did you mean address?
        - chains.Ethereum has a name that must be lower case letters, digits and dashes, and not constructor. Rename it.
        - chains.one.family has an unknown value. Use evm.
        - chains.one.networkId must be a number, not a text. Write it as a number, without quotes. EIP-155 chain id. Portage checks that every node has this id.
        - chains.one.nodes[0].url must be an http or https URL. Correct it. JSON-RPC over HTTP. Secrets in the URL never appear in logs.
        - chains.one.finality.blocks must be at least 1. Change it.
        - chains.one.blockTimeMs is missing. Add it. Expected time between blocks, which also sets how often the head is polled.
        - chains.one.lanes[0].address must be an address: 0x and 40 hex digits. Correct it. Address of the key. All workers of the chain need the address; only lane workers need the signer.
        - chains.one.lanes[0].signer.kind has an unknown value. Use keystore or environment or remote or aws-kms.
        - chains.one.lanes[1].signer.file is missing. Add it. Path of the file, relative to the config file.
        - chains.one.lanes[1].signer.fil is not a field of the config. Did you mean file?
        - chains.one.lanes[1].signer must have passwordFile or passwordVariable, and not both. Correct it. Where the key is. Absent on workers that do not serve this lane.
        - chains.one.lanes[2].window must be at most 128. Change it. Limit of nonces in flight. For public pools, use 16 (go-ethereum AccountSlots) to 64. For devnets and sequencers, use 64 to 128.
        - chains.two.nodes must have at least 1 entry. Change it. Nodes of the chain. At least one must answer reads.
        - chains.two.blockTimeMs must be at least 50. Change it. Expected time between blocks, which also sets how often the head is polled.
        - chains.two.contracts.tokenBridge must be a text, not a number. Put the value in quotes. Wormhole token bridge contract. Absent: the chain has no token bridge.
        - chains.three.wormholeChainId must be at most 65535. Change it. Wormhole chain id (2 is Ethereum). Required for all bridges of Wormhole.
        - chains.three.finality.kind has an unknown value. Use tag or depth or instant.
        - chains.three.contracts must be a map of fields, not empty. Correct it. Wormhole contracts of this chain. Required for all bridges of Wormhole.
        - bridges.wormhole-token-bridge.guardianApis must be a list, not a text. Correct it. REST APIs of guardians from which Portage fetches signed VAAs.
        - bridges.wormhole-token-bridge.minimumFees.four.2/11 has a name that must be <wormhole chain id>/<64 hex digits of the token>. Rename it.
        - bridges.wormhole-token-bridge.minimumFees.two.2/0000000000000000000000000000000000000000000000000000000000000000 must be a text, not a number. Put the value in quotes.
        - bridges.wormhole-token-bridge.calls.five.0xc0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0 must be a function that takes the signed VAA: name(bytes). Correct it.
        - extra is not a field of the config. Remove it; known here: dataFolder, temporal, worker, chains, fees, transfers, audit, streams, bridges, priceFeed, access, api, admin, codecServer, telemetry, archive, notifications.
        - chains.three.networkId is 5, as of chains.two. One network is one chain: merge the two, with the nodes and lanes of both.
        - chains.two.wormholeChainId is 2, as of chains.one. Every Wormhole chain id belongs to one chain: correct one of them.
        - chains.one.lanes[2].address is the address of lanes[1] too. A key is one lane: remove one of them.
        - chains.Ethereum.wormholeChainId is missing, and bridges.wormhole-token-bridge needs it. Add Wormhole's number of the chain, or remove the chain, or bridges.wormhole-token-bridge.
        - chains.Ethereum.contracts is missing, and bridges.wormhole-token-bridge needs it. Add core, and tokenBridge if the chain has a token bridge.
        - chains.one.contracts is missing, and bridges.wormhole-token-bridge needs it. Add core, and tokenBridge if the chain has a token bridge.
        - bridges.wormhole-token-bridge.minimumFees.four is not a chain of this config. Use one of: Ethereum, one, two, three.
        - bridges.wormhole-token-bridge.calls.five is not a chain of this config. Use one of: Ethereum, one, two, three.
        - bridges.wormhole-token-bridge.minimumFees.two names the token 2/0000000000000000000000000000000000000000000000000000000000000000 twice. Keep one of the two fees.
       (problems=34) → Correct what the message names."
    `)
  })

  test('an empty file is a problem', () => {
    expect(problemsOf('')).toMatchInlineSnapshot(`
      "The config has problems. portage.yaml:
        - the file is empty. Make one with portage init, or start from config/portage.example.yaml.
       (problems=1) → Correct what the message names."
    `)
  })

  test('a syntax error of the YAML is a problem with its line', () => {
    expect(problemsOf('chains:\n  one: {\n  one: "unclosed\n')).toMatchInlineSnapshot(`
      "The config has problems. portage.yaml:
        - line 3, column 3: the indentation is wrong. Correct the YAML.
        - line 3, column 3: the name of a field is there twice. Correct the YAML.
        - line 4, column 1: a bracket, a quote, a comma or a colon is missing. Correct the YAML.
       (problems=3) → Correct what the message names."
    `)
    expect(problemsOf('api: {}\napi: {}\n')).toMatchInlineSnapshot(`
      "The config has problems. portage.yaml:
        - line 2, column 1: the name of a field is there twice. Correct the YAML.
       (problems=1) → Correct what the message names."
    `)
  })

  test('a tree that is not a map is a problem', () => {
    expect(problemsOf('- a\n- b\n')).toMatchInlineSnapshot(`
      "The config has problems. portage.yaml:
        - must be a map of fields, not a list. Correct it.
       (problems=1) → Correct what the message names."
    `)
  })

  test('absent, empty and malformed variables are problems', () => {
    expect(problemsOf(least, {})).toMatchInlineSnapshot(`
      "The config has problems. portage.yaml:
        - chains.ethereum.nodes[0].url needs the environment variable NODE_KEY, which is not set. Set NODE_KEY before starting.
       (problems=1) → Correct what the message names."
    `)
    expect(problemsOf(least, { NODE_KEY: '' })).toContain('needs the environment variable NODE_KEY')
    expect(problemsOf(least.replace('NODE_KEY', '1 x'))).toContain('holds a ${…} that is not the name of a variable')
  })

  test('problems of a config never show the value of a variable or a field', () => {
    const text = problemsOf(least.replace('https://node.example/v3/', 'no url but a '))
    expect(text).toContain('chains.ethereum.nodes[0].url must be an http or https URL')
    expect(text).not.toContain(env.NODE_KEY)
    expect(problemsOf(`${least}\nx: "secret-in-broken-yaml`)).not.toContain('secret-in-broken-yaml')
  })
})
