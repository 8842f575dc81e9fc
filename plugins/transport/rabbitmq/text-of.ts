/** The message of whatever was thrown; an error of several addresses says what the first one did. */
export const textOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return textOf(error.errors[0])
  return error instanceof Error ? error.message || error.name : String(error)
}
