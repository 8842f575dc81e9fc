/** What went wrong, for the log: the messages alone, for errors of the libraries carry tokens and what a provider says of people. */
export const reasonOf = (error: unknown): string => {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 6; cause = cause.cause) {
    const code = 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : ''
    messages.push(`${cause.message}${code}`)
  }
  return messages.join(': ')
}
