import type { Json, MetadataRecord, MetadataValue } from 'pounce/sdk'
import { typedValue } from 'pounce/sdk/search'

/** Bounds of what one resource can put into the index. */
const mostValues = 2000
const mostDepth = 16
const longestValue = 1000
const longestText = 100_000

/** What the metadata of one resource gives to the index. */
export interface IndexedMetadata {
  readonly values: readonly MetadataValue[]
  /** Long texts, such as a PDF's, to be searched and not compared. */
  readonly text: string
}

/** Fields of extractors stand under the extractor's name, dots as underscores; those of people stand alone. */
const prefixOf = ({ agent }: MetadataRecord): string => (agent.kind === 'extractor' ? `${agent.name.replaceAll('.', '_')}.` : '')

/** Flattens documents to dotted paths. Arrays give a value per element under the same path. */
export const metadataValues = (documents: readonly MetadataRecord[]): IndexedMetadata => {
  const values: MetadataValue[] = []
  let text = ''
  const addText = (field: string, value: string): void => {
    if (value.length <= longestValue) values.push({ field, value: typedValue(value) })
    else if (text.length < longestText) text += `${value.slice(0, longestText - text.length)}\n`
  }
  const walk = (field: string, value: Json, depth: number): void => {
    if (values.length >= mostValues || depth > mostDepth || value === null) return
    if (typeof value === 'string') addText(field, value)
    else if (typeof value === 'number' || typeof value === 'boolean') values.push({ field, value })
    else if (Array.isArray(value)) for (const item of value as readonly Json[]) walk(field, item, depth + 1)
    else for (const [key, item] of Object.entries(value)) walk(join(field, key), item, depth + 1)
  }
  for (const document of documents) walk(prefixOf(document), document.content, 0)
  return { values, text }
}

const join = (field: string, key: string): string => {
  const name = key.replaceAll('.', '_').slice(0, 200)
  return field === '' || field.endsWith('.') ? `${field}${name}` : `${field}.${name}`
}
