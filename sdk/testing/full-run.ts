/** With `POUNCE_TEST_MATRIX=full` all cases of test matrices and long runs are executed, otherwise a sample. */
export const isFullRun = process.env['POUNCE_TEST_MATRIX'] === 'full'

/** The usual number of cases, or the full number in a full run. */
export const usualOrFull = (usual: number, full: number): number => (isFullRun ? full : usual)
