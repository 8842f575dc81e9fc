/** With `POUNCE_TEST_MATRIX=full` whole matrices and long runs are executed in full; otherwise a sample is. */
export const isFullRun = process.env['POUNCE_TEST_MATRIX'] === 'full'

/** How many of something: the usual count, or all of them in a full run. */
export const usualOrFull = (usual: number, full: number): number => (isFullRun ? full : usual)
