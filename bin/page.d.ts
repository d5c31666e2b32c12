/** Builds the page into a folder; the packages' files inside. Throws what esbuild throws. */
export function buildPage(folder: string): Promise<string[]>
/** Folder of the built page, in node_modules. Throws what esbuild and the file system throw. */
export function pageFolder(): Promise<string>
