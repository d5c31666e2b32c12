/** One key on one network: `evm-1337:0x…` (family, network id, lower-case address). */
export type LaneId = string

export function laneId(family: string, networkId: string | number, address: string): LaneId {
  return `${family}-${networkId}:${address.toLowerCase()}`
}

/** The address part of a lane id, lower case. */
export function laneAddress(lane: LaneId): string {
  return lane.slice(lane.indexOf(':') + 1)
}
