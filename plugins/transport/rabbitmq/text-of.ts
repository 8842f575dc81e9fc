/** The message of whatever was thrown; with its cause where it says nothing by itself, and the first of several. */
export const textOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return textOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return error.message === 'fetch failed' && error.cause !== undefined ? textOf(error.cause) : error.message || error.name
}
