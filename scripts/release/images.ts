import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files that name images of other projects, each with a pattern that finds the images. */
const places: Readonly<Record<string, RegExp>> = {
  'docker-compose.temporal.yml': /^( +image: )([^\s$]+)$/gm,
  Dockerfile: /^(ARG BASE=)(\S+)$/gm,
}
const digest = /@sha256:[0-9a-f]{64}$/

/** The images of other projects in a file of `places`, with their digests if the file has them. */
export function imagesIn(file: string, text: string): string[] {
  return [...new Set([...text.matchAll(places[file] ?? /$^/g)].map(([, , image = '']) => image))]
}

/** The text with digests added. Each `image:tag@sha256:…` in `pinned` replaces the image with that tag. */
export function withDigests(file: string, text: string, pinned: readonly string[]): string {
  const known = new Map(pinned.map((image) => [image.replace(digest, ''), image]))
  return text.replace(places[file] ?? /$^/g, (whole: string, start: string, image: string) => {
    const found = known.get(image.replace(digest, ''))
    return found === undefined ? whole : `${start}${found}`
  })
}

/**
 * Adds digests to the images in all files of `places`. `list` has a line `image:tag@sha256:…` for each image. Throws
 * Error and writes nothing if a digest is missing.
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
