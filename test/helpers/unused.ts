/** A function of an interface that a test must not reach: it throws with its name. */
export const unused = (name: string) => (): never => {
  throw new Error(`${name} is not part of this test`)
}
