export { audit } from './audit.ts'
export { lane } from './lane.ts'
export { settings } from './settings.ts'
export { transfer } from './transfer.ts'
