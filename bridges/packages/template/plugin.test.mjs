// @ts-check
// `portage plugin test plugin.mjs` calls these two functions on a devnet of its own.

/**
 * Deploys the contracts.
 * @param {import('portage/plugin').AuthorDevnet} devnet
 * @returns the settings of the plug-in
 */
export async function deploy(devnet) {
  const { ethereum, bsc } = devnet.chains
  const sender = devnet.account('ethereum')
  // A contract of lab/devnet/contracts. For a contract of your own, pass `{ abi, bytecode }` instead of the name.
  const contract = await devnet.deploy('bsc', 'MessageReceiver', [
    bsc.core,
    ethereum.wormholeChainId,
    `0x${sender.slice(2).padStart(64, '0')}`,
  ])
  return { source: 'ethereum', sender, target: 'bsc', contract }
}

/**
 * Sends one or more messages. With `return { declined: ['0x02'] }`, the messages with these payloads must be declined
 * by `policy`.
 * @param {import('portage/plugin').AuthorDevnet} devnet
 */
export async function send(devnet) {
  await devnet.publish('ethereum', '0x01c0ffee')
}
