/** Path of the compiled command line; undefined where it cannot be compiled. */
export function compiledMain(): Promise<string | undefined>
