import { optional, z } from 'zod'
import { address, chainName, listOf, url, usually, whole } from '../load/values.ts'
import { emitterOrAddress, maxOpen } from './bridge-schema.ts'

const versionSchema = z.strictObject({
  messageTransmitter: address.describe("Circle's MessageTransmitter (v1) or MessageTransmitterV2 (v2) on this chain."),
  tokenMessenger: address.describe("Circle's TokenMessenger (v1) or TokenMessengerV2 (v2) on this chain."),
})

const cctpChainSchema = z.strictObject({
  domain: whole(0, 2 ** 32 - 1).describe("Circle's number of the chain: 0 is Ethereum, 1 Avalanche, 2 OP, 3 Arbitrum, 6 Base."),
  v1: optional(versionSchema).describe('Contracts of CCTP v1. Absent: Portage delivers no messages of v1.'),
  v2: optional(versionSchema).describe('Contracts of CCTP v2. Absent: Portage delivers no messages of v2.'),
  startBlock: optional(whole(0)).describe(
    'First block of this chain to read messages from. Absent: the blocks of the last `streams.lookBackDays`.',
  ),
  maxOpen: maxOpen.describe('Maximum number of open transfers of each MessageTransmitter of this chain.'),
})

const accounts = z.array(emitterOrAddress).max(10_000).default([])

export const cctpSchema = z.strictObject({
  attestationApis: listOf(url, 1, 10).describe(
    "Circle's attestation APIs, asked in the order of this list. Mainnets: https://iris-api.circle.com. Testnets: https://iris-api-sandbox.circle.com.",
  ),
  requestsPerSecond: usually(whole(1, 1_000), 20).describe(
    'Maximum number of requests per second from a process to each API. After 35 requests in a second from an IP address, Circle refuses the address for 5 minutes. The requests of all processes behind the address count.',
  ),
  finality: usually(z.enum(['fast', 'finalized']), 'fast').describe(
    'fast: Portage uses an attestation at the finality that the sender asked for. finalized: Portage uses only attestations at finality, even for burns that ask for a fast one.',
  ),
  free: optional(z.literal(true)).describe(
    'Portage delivers all burns. CCTP pays the relayer nothing, so anyone who burns makes your lanes pay for gas.',
  ),
  senders: accounts.describe('Accounts whose burns are delivered (on any chain): addresses, or 64 hex digits.'),
  recipients: accounts.describe('Accounts to which burns are delivered: addresses, or 64 hex digits.'),
  chains: z.record(chainName, cctpChainSchema).describe('The chains in the config between which burns are delivered: at least two.'),
})
