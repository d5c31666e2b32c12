/** Folder of the compiled command line; undefined where it cannot be compiled. */
export function compiledFolder(): Promise<string | undefined>
