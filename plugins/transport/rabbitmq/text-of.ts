/** The message of any thrown value; with its cause where the message is empty, and the first of several errors. */
export const textOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return textOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return error.message === 'fetch failed' && error.cause !== undefined ? textOf(error.cause) : error.message || error.name
}
