import { Invalid, type Json } from 'pounce/sdk'
import { assertSafeJson, checkJsonLdContext, defaultJsonLimits, isJsonObject, NotJson, parseJson } from 'pounce/sdk/kit'

/** A JSON-LD document that was sent with a file. */
export interface SentMetadata {
  readonly context?: Json
  readonly content: Json
}

type JsonObject = Readonly<Record<string, Json>>

/** The JSON object in a text; undefined when it is not JSON. `whole` is the subject of problem messages. */
export const jsonObjectIn = (text: string | undefined, whole: string): JsonObject | undefined => {
  if (text === undefined) return undefined
  try {
    const value = parseJson(text, defaultJsonLimits, whole) as Json
    return isJsonObject(value) ? value : undefined
  } catch (error) {
    // Not JSON: the caller decides what that means.
    if (error instanceof NotJson) return undefined
    throw error
  }
}

/** Separates the context from a document sent with a file. `whole` is the subject of `Invalid` messages: `The field a.txt`. */
export const metadataFrom = (document: unknown, whole: string): SentMetadata => {
  if (!isJsonObject(document)) throw new Invalid(`${whole} must be a JSON object: the metadata of the file`)
  assertSafeJson(document, whole)
  const { '@context': context, ...content } = document as JsonObject
  if (context === undefined) return { content }
  checkJsonLdContext(context, whole)
  return { context, content }
}

/**
 * The metadata of a file among the text fields of an upload. As in v1, it is in a field named like the file; in one named like the file's
 * part it requires an `@context`. Throws `Invalid`, naming the field, for a document that the metadata route would refuse too.
 */
export const sentMetadata = (
  fields: ReadonlyMap<string, string>,
  file: { readonly name: string; readonly field: string },
): SentMetadata | undefined => {
  const named = fields.get(file.name)
  // Some clients name the part like the file: then a text field of that name that is not JSON is just text.
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
