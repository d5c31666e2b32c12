/** Failure types of an update that a lane, a stream or the settings refuse: the request is malformed, and is refused again whenever it is sent. */
export const malformedUpdate = 'REQUEST_MALFORMED'
/** The run that the update met is ending: the next run takes it. */
export const runIsFull = 'RUN_IS_FULL'
