import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { attachAnvil } from './chain/anvil.ts'
import type { Devnet } from './index.ts'
import { productSides, type ProductSides, publishedProducts, type PublishedProducts } from './published-products.ts'
import type { NativeSide } from './native/native-users.ts'
import type { UserSide } from './wormhole/users.ts'

/** Folder in which `npm run devnet` writes its files. Default of --dir. */
export const devnetDir = join('.portage', 'devnet')

/** Paths relative to the working directory. */
export interface DevnetFiles {
  readonly config: string
  /** Shell assignments: PORTAGE_CONFIG, PORTAGE_DEVNET (the folder) and the lanes' DEVNET keys. */
  readonly env: string
  /** Chains and their contracts, for other processes that use the devnet (`readDevnetChains`). */
  readonly chains: string
}

type PublishedSide = Omit<UserSide, 'anvil'> & {
  readonly url: string
  readonly chainId: number
  readonly native?: Omit<NativeSide, 'name' | 'anvil'>
  readonly products: PublishedProducts
}

export type PublishedChain = UserSide & ProductSides & { readonly native?: NativeSide }

/** Writes the files that other commands read. Only the owner may read the file `env`, which has keys. */
export async function writeDevnetFiles(devnet: Devnet, dir: string): Promise<DevnetFiles> {
  await mkdir(dir, { recursive: true })
  const files = { config: join(dir, 'portage.yaml'), env: join(dir, 'env'), chains: join(dir, 'chains.json') }
  const note = '# Written by `npm run devnet`: a relayer that serves this devnet. Its keys are DEVNET keys, which everyone knows.\n'
  await writeFile(files.config, note + stringify(devnet.relayerConfig(), { aliasDuplicateObjects: false }))
  const variables = Object.entries(devnet.env).map(([name, value]) => `${name}=${value}`)
  await writeFile(
    files.env,
    ['# DEVNET keys: never fund them on a real network.', `PORTAGE_CONFIG=${files.config}`, `PORTAGE_DEVNET=${dir}`, ...variables, ''].join(
      '\n',
    ),
  )
  await chmod(files.env, 0o600)
  const sides = Object.values(devnet.chains).map((chain): PublishedSide => {
    const end = devnet.native?.ends[chain.name as 'ethereum' | 'bsc']
    const native = end && { user: end.user, deployer: end.deployer, bridge: end.bridge, token: end.token, insuranceFund: end.insuranceFund }
    const { anvil, name, wormholeChainId, user, core, tokenBridge, weth, token, wrappedWeth, wrappedToken, redeemer } = chain
    return {
      url: anvil.url,
      chainId: anvil.chainId,
      name,
      wormholeChainId,
      user,
      core,
      tokenBridge,
      weth,
      token,
      wrappedWeth,
      wrappedToken,
      redeemer,
      ...(native && { native }),
      products: publishedProducts(devnet, chain.name as 'ethereum' | 'bsc'),
    }
  })
  await writeFile(files.chains, JSON.stringify(sides, null, 2))
  return files
}

/** Reads the chains of a devnet in another process. Throws SETUP_INCOMPLETE without such a devnet. */
export async function readDevnetChains(dir = process.env['PORTAGE_DEVNET'] || devnetDir): Promise<PublishedChain[]> {
  try {
    const sides = JSON.parse(await readFile(join(dir, 'chains.json'), 'utf8')) as PublishedSide[]
    return sides.map(({ url, chainId, native, products, ...side }) => {
      const anvil = attachAnvil(url, chainId)
      return {
        ...side,
        anvil,
        ...productSides(products, { ...side, anvil }),
        ...(native && { native: { ...native, name: side.name, anvil } }),
      }
    })
  } catch (cause) {
    throw new RelayerError('SETUP_INCOMPLETE', { detail: `No devnet was started in ${dir}: start one with npm run devnet.`, cause })
  }
}
