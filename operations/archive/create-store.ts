import { createDirectoryStore } from './directory.ts'
import { createS3Store } from './s3.ts'
import type { ArchivePlace, ArchiveStore } from './store.ts'

export function createArchiveStore(place: ArchivePlace): ArchiveStore {
  return place.kind === 'directory' ? createDirectoryStore(place.path) : createS3Store(place)
}
