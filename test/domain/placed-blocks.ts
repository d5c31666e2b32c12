import { heightOf, placeOf } from '../../domain/stream/places.ts'
import type { StreamConfig } from '../../domain/stream/stream.ts'

export const config: StreamConfig = { stream: 'logs:a:c', origin: '1/0xcc', first: '0', start: 0, maxOpen: 4, placed: true }

interface LogBlock {
  readonly hash: string
  readonly logs: readonly (readonly [number: string, id: string])[]
}

/** A chain of blocks with logs. Its nodes may hide logs. */
export class LogChain {
  #blocks: LogBlock[] = [{ hash: 'genesis', logs: [] }]
  final = 0
  readonly #hidden = new Set<string>()
  /** Ids of logs that nodes once hid. The watermark may have passed such a log. */
  readonly missed = new Set<string>()
  #hashes = 0

  mine(...indexes: number[]): void {
    const [height, hash] = [this.#blocks.length, `h${++this.#hashes}`]
    const places = [...new Set(indexes)].sort((a, b) => a - b).map((index) => placeOf(height, index))
    this.#blocks.push({ hash, logs: places.map((number) => [number, `${number}-${hash}`]) })
  }

  finalize(blocks: number): void {
    this.final = Math.min(this.#blocks.length - 1, this.final + blocks)
  }

  /** `depth`: number of final blocks to replace. Returns whether a final block was replaced. */
  fork(depth: number, index: number): boolean {
    const keep = Math.max(1, this.final + 1 - depth)
    const { length } = this.#blocks
    this.#blocks = this.#blocks.slice(0, keep)
    while (this.#blocks.length < length) this.mine(...(this.#blocks.length % 2 === 0 ? [index, 3] : []))
    return keep <= this.final
  }

  hide(id: string): void {
    this.#hidden.add(id)
    this.missed.add(id)
  }

  show(): void {
    this.#hidden.clear()
  }

  hashAt(height: number): string {
    return this.#blocks[height]?.hash ?? 'none'
  }

  all(upTo = this.#blocks.length - 1, from = 0): (readonly [number: string, id: string])[] {
    return this.#blocks.slice(from, upTo + 1).flatMap(({ logs }) => logs)
  }

  read(from: number, to: number): (readonly [number: string, id: string])[] {
    return this.all(to, from).filter(([, id]) => !this.#hidden.has(id))
  }

  idOf(number: string): string | undefined {
    return this.#blocks[heightOf(number)]?.logs.find(([one]) => one === number)?.[1]
  }
}
