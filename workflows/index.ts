export { lane } from './lane.ts'
export { transfer } from './transfer.ts'
