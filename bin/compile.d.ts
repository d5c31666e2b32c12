/** Compiles the command line into a folder; `rootCode`: an expression, the path of the folder with package.json. The packages' files inside. Throws what esbuild throws. */
export function compileAll(folder: string, rootCode: string): Promise<string[]>
/** The same, with the packages of these names in a folder that is shared. */
export function compile(folder: string, packagesFolder: (names: readonly string[]) => string): Promise<void>
