import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files that name images of others, and where. */
const places: Readonly<Record<string, RegExp>> = {
  'docker-compose.temporal.yml': /^( +image: )([^\s$]+)$/gm,
  Dockerfile: /^(ARG BASE=)(\S+)$/gm,
}
const digest = /@sha256:[0-9a-f]{64}$/

/** Images of others in a file of `places`, with their digests if they have some. */
export function imagesIn(file: string, text: string): string[] {
  return [...new Set([...text.matchAll(places[file] ?? /$^/g)].map(([, , image = '']) => image))]
}

/** The text with the digests. `pinned`: `image:tag@sha256:…`, each replaces the image of that tag. */
export function withDigests(file: string, text: string, pinned: readonly string[]): string {
  const known = new Map(pinned.map((image) => [image.replace(digest, ''), image]))
  return text.replace(places[file] ?? /$^/g, (whole: string, start: string, image: string) => {
    const found = known.get(image.replace(digest, ''))
    return found === undefined ? whole : `${start}${found}`
  })
}

/**
 * Writes the digests of `list` (a line `image:tag@sha256:…` for each image) into the Dockerfile and the Compose file.
 * Throws Error, with nothing written, for a line without a digest, and if an image then has none.
 */
export async function pinImages(root: string, list: string): Promise<void> {
  const pinned = list.split('\n').filter((line) => line.trim() !== '')
  for (const line of pinned) if (!digest.test(line)) throw new Error(`${line} is not image:tag@sha256:…`)
  const texts = await Promise.all(
    Object.keys(places).map(async (file) => [file, withDigests(file, await readFile(join(root, file), 'utf8'), pinned)] as const),
  )
  const bare = texts.flatMap(([file, text]) => imagesIn(file, text).filter((image) => !digest.test(image)))
  if (bare.length > 0) {
    const how = 'Give --images a file with a line image:tag@sha256:… for each: docker buildx imagetools inspect <image> prints the digest.'
    throw new Error(`Without a digest: ${bare.join(', ')}. ${how}`)
  }
  for (const [file, text] of texts) await writeFile(join(root, file), text)
}
