/**
 * Compiles the command line into a folder and resolves with the bundled files of packages. `rootCode`: an expression
 * for the path of the folder with package.json.
 */
export function compileAll(folder: string, rootCode: string): Promise<string[]>
/** The same, with the packages of these names in a folder that is shared. */
export function compile(folder: string, packagesFolder: (names: readonly string[]) => string): Promise<void>
