import type { Client } from '@temporalio/client'

/**
 * A client of one namespace, to be handed to the functions of this folder. Only this folder looks into it: nobody else calls the SDK's methods, catches
 * its errors or names its types.
 */
export type TemporalClient = Client
