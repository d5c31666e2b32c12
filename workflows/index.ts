export { lane } from './lane.ts'
export { settings } from './settings.ts'
export { transfer } from './transfer.ts'
