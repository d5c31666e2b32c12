import { defences } from './defences.ts'

/** How many defences a turn removes, one after another. */
const perTurn = 3

/** Prints the defences of a turn, a line each. Argument: the turn, 0 or more. Successive turns remove all of them. */
const turn = Number(process.argv[2])
const names = Object.keys(defences)
for (let index = 0; index < perTurn; index++) process.stdout.write(`${names[(turn * perTurn + index) % names.length]}\n`)
