import { Invalid, type Json } from 'pounce/sdk'
import { assertSafeJson, checkJsonLdContext, defaultJsonLimits, NotJson, parseJson } from 'pounce/sdk/kit'

/** A JSON-LD document that came beside a file. */
export interface SentMetadata {
  readonly context?: Json
  readonly content: Json
}

type JsonObject = Readonly<Record<string, Json>>

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The JSON object that a text is; undefined when it is none. `whole` begins the messages of what is refused. */
export const jsonObjectIn = (text: string | undefined, whole: string): JsonObject | undefined => {
  if (text === undefined) return undefined
  try {
    const value = parseJson(text, defaultJsonLimits, whole)
    return isObject(value) ? value : undefined
  } catch (error) {
    // No JSON: what that means is the caller's to say.
    if (error instanceof NotJson) return undefined
    throw error
  }
}

/** Splits the context off a document that came beside a file. `whole` begins the messages of `Invalid`: `The field a.txt`. */
export const metadataFrom = (document: unknown, whole: string): SentMetadata => {
  if (!isObject(document)) throw new Invalid(`${whole} must be a JSON object: the metadata of the file`)
  assertSafeJson(document, whole)
  const { '@context': context, ...content } = document
  if (context === undefined) return { content }
  checkJsonLdContext(context, whole)
  return { context, content }
}

/**
 * The metadata of a file among the text fields of an upload. v1: a field named like the file holds it; under the part's own name it counts
 * only with an `@context`. Throws `Invalid`, naming the field, for a document that the metadata route would refuse too.
 */
export const sentMetadata = (
  fields: ReadonlyMap<string, string>,
  file: { readonly name: string; readonly field: string },
): SentMetadata | undefined => {
  const named = fields.get(file.name)
  // Some clients name the part like the file: then a plain text beside it is a plain text.
  if (named !== undefined && (file.name !== file.field || jsonObjectIn(named, `The field ${file.name}`))) {
    const document = jsonObjectIn(named, `The field ${file.name}`)
    return metadataFrom(document, `The field ${file.name}`)
  }
  const fielded = fields.get(file.field)
  const document = jsonObjectIn(fielded, `The field ${file.field}`)
  if (document && '@context' in document) return metadataFrom(document, `The field ${file.field}`)
  if (!document && fielded?.includes('"@context"')) throw new Invalid(`The field ${file.field} is not a valid JSON object`)
  return undefined
}
