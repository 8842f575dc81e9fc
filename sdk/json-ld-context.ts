import { Invalid } from './problem.ts'

const isContext = (value: unknown): boolean =>
  typeof value === 'string' ? URL.canParse(value) : typeof value === 'object' && value !== null && !Array.isArray(value)

/** Throws `Invalid` for a malformed JSON-LD context. `whole` starts the message. */
export const checkJsonLdContext = (context: unknown, whole?: string): void => {
  if (Array.isArray(context) ? context.every(isContext) : isContext(context)) return
  const fault = '@context must be a URL, an object, or a list of these'
  throw new Invalid(whole === undefined ? fault : `${whole}: ${fault}`)
}
