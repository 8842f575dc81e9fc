import { Invalid, type Json, requireTame } from 'pounce/sdk'

/** A JSON-LD document that came beside a file. */
export interface SentMetadata {
  readonly context?: Json
  readonly content: Json
}

const asObject = (text: string | undefined): Readonly<Record<string, Json>> | undefined => {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, Json>) : undefined
  } catch {
    // v1: a field that is no JSON object is an ordinary form field
    return undefined
  }
}

/**
 * The metadata of a file among the text fields of an upload. v1: a field named like the file holds it; under the part's own name it counts
 * only with an `@context`. Throws `Invalid` for a document that the metadata route would refuse too.
 */
export const sentMetadata = (
  fields: ReadonlyMap<string, string>,
  file: { readonly name: string; readonly field: string },
): SentMetadata | undefined => {
  const named = asObject(fields.get(file.name))
  const fielded = named ? undefined : asObject(fields.get(file.field))
  const document = named ?? (fielded && '@context' in fielded ? fielded : undefined)
  if (!document) return undefined
  const whole = `The field ${named ? file.name : file.field}`
  requireTame(document, whole)
  const { '@context': context, ...content } = document
  if (context === undefined) return { content }
  if (typeof context !== 'string' && (typeof context !== 'object' || context === null)) {
    throw new Invalid(`${whole}: @context must be text, an object or a list`)
  }
  return { context, content }
}
