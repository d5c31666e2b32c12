/** Compiles the command line into a folder, with the code of root.cjs; resolves with the paths of the packages' files that are inside. Throws what esbuild throws. */
export function compile(folder: string, rootCode?: string): Promise<string[]>
