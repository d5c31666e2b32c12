import { cause, commands, does, fatal, outage, type CatalogueRow, row } from './row.ts'

const { nodes, reason } = commands
const disable = `portage node disable <chain> <node> ${reason}`
const enable = `portage node enable <chain> <node> ${reason}`
const add = `portage node add <chain> <name> <url> ${reason}`
const remove = `portage node remove <chain> <node> ${reason}`

export const chainRows = {
  CHAIN_UNREACHABLE: {
    title: 'No node of the chain answers.',
    remedy:
      'Start the node, or repair the network between the node and Portage. Until then, you can add another node: an added node serves the chain, but does not count in any majority.',
    severity: 'chain',
    does: 'Portage keeps sending requests to the nodes. Transfers to other chains continue.',
    next: [nodes, enable, add],
    meaning: 'Portage reads nothing from the chain and sends no transactions to it.',
  },
  CHAIN_WITHOUT_MAJORITY: {
    title: "Half or more of the chain's configured nodes do not answer.",
    remedy:
      'Bring nodes back, and enable disabled nodes that answer again. Remove nodes that are gone for good from the config, and restart the processes.',
    severity: 'chain',
    does: 'Portage reads and sends through the nodes that answer. Decisions that need a majority wait.',
    next: [nodes, enable],
    meaning: 'Finality, streams and audits wait, because they need the answers of more than half of the nodes.',
  },
  CHAIN_STALLED: {
    title: 'The chain makes no blocks, or all its configured nodes answer but no longer follow the chain.',
    remedy:
      'Compare the heads of the nodes in `portage doctor` with a block explorer. If the explorer shows new blocks, the nodes have stopped: restart the nodes, or name other nodes in the config and restart the processes. Portage reads from a node that was added with `portage node add` only while no node in the config answers. Halt a chain whose blocks you do not trust.',
    severity: 'chain',
    does: 'Portage raises no fees on the chain until the chain makes a block again. No transfer is lost.',
    next: [nodes, `portage halt --chain <chain> ${reason}`],
  },
  FINALITY_STALLED: {
    ...row(
      'The chain makes blocks, but none becomes final.',
      'Compare the final blocks of the nodes in `portage doctor` with a block explorer, and wait.',
    ),
    severity: 'chain',
    does: 'Deliveries to the chain are sent, and stay `included`. Streams whose source is this chain wait.',
    next: [nodes],
    meaning: 'Portage reads nothing from the chain as final, and no transfer to the chain ends.',
  },
  CHAIN_WITHOUT_WORKER: {
    title: 'No process serves the transfers to this chain.',
    remedy: 'Start a process with the role chain for this chain, or promote the version of the running processes.',
    retriable: true,
    ...cause('chain', does.keeps, ['portage run --role chain --chain <chain>', commands.promote]),
  },
  NODE_WRONG_NETWORK: {
    title: 'The network of a node differs from the network that the config names.',
    remedy: 'Correct the URL of the node in the config. If an operator added the node, remove it.',
    ...cause('node', 'Portage does not use the node.', [disable, remove]),
  },
  NODE_DOWN: {
    title: 'A node does not answer, but other nodes of its chain do.',
    remedy:
      'Repair the node. If the repair takes a long time, disable the node, and enable it afterwards. A disabled node still counts when Portage computes how many nodes are a majority. If an operator added the node, remove it.',
    ...cause('node', 'Portage uses the other nodes.', [nodes, disable, remove]),
  },
  NODE_LAGS: {
    title: 'The head of a node is some blocks behind the heads of the other nodes, or far above them.',
    remedy: 'Repair the node, or disable it. A node far above the others is on another chain. If an operator added the node, remove it.',
    ...cause('node', 'Portage prefers other nodes when it asks a single node.', [nodes, disable, remove]),
  },
  NODE_DISABLED: {
    ...row('A disabled node answers again.', 'Enable the node if the reason for disabling it is gone.'),
    ...cause(
      'note',
      'Portage does not use the disabled node, but the node still counts when Portage computes how many nodes are a majority.',
      [nodes, enable],
    ),
  },
  NODES_DISAGREE: outage(
    'The nodes of the chain do not agree.',
    'Do nothing if the nodes agree again; otherwise find the node that lies (run `portage doctor`), and disable it (run `portage node disable`). Disabled nodes still count: if no majority is left, remove dead nodes from the config.',
    { waitsForItself: true, passesSoon: true },
  ),
  NODE_UNAVAILABLE: {
    ...outage(
      'No node of the chain gave a usable answer.',
      'Check the nodes in the config; `portage doctor` tests each of them. You can add another node.',
      { waitsForItself: true, passesSoon: true },
    ),
    ...cause('transfers', 'Portage repeats the request to the nodes.', [nodes, add]),
  },
  NODE_REFUSED: {
    ...outage(
      'The node refused the request, or gave a malformed answer.',
      "Read the node's message. If the error persists, add another node.",
      { waitsForItself: true, passesSoon: true },
    ),
    ...cause('transfers', 'Portage repeats the request.', [nodes, add]),
  },
  RECEIPT_TOO_LONG: row(
    'A transaction has more logs than Portage reads. Portage ignores the requests and messages of this transaction.',
    'Do nothing unless you know of a message in this transaction. Deliver such a message yourself. Only a transaction of more than 16,777,216 gas (the limit of EIP-7825) can have logs of this size.',
  ),
  CHAIN_ID_MISMATCH: fatal(
    'A node does not serve the network that the config names.',
    'Correct the node URL or the networkId of the chain.',
    { isOutage: true },
  ),
  TRANSACTION_REFUSED: outage('The node refused the transaction.', "Read the node's message."),
  HEADERS_UNCHECKED: row(
    'The block headers of most nodes do not match the block hashes of these nodes. Portage no longer checks headers.',
    'Do nothing if the chain hashes its headers in its own way; otherwise find out who can alter answers between the nodes and this process.',
  ),
  SIGNATURES_SLOW: row(
    'Signatures are checked in JavaScript, which is slow: there is no native build of secp256k1.',
    'Build secp256k1 for this platform: run `npm explore secp256k1 -- npm run install`.',
  ),
  EFFECT_UNDONE: outage(
    'The chain no longer shows an effect that it had shown as final.',
    'Do nothing for the transfer: Portage delivers it again. Ask the operators of the chain what happened, and consider a stricter `finality` in the config.',
  ),
} satisfies Record<string, CatalogueRow>
