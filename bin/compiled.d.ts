/** Folder of the compiled command line; undefined where it cannot be compiled. */
export function compiledFolder(): Promise<string | undefined>
/** Drops compiled versions in the cache, or in this folder, that are old or too many. Never throws. */
export function dropOld(folder?: string): void
