import { hash } from 'node:crypto'
import type { IndexChange, MetadataValue, SearchDocument } from 'pounce/sdk/search'
import { comparableText, comparedChars, foldValue, wordsOf, wordsPerValue } from 'pounce/sdk/search'
import type { Write } from './bulk-writer.ts'
import { above, endsOf, type FieldType, type FixedField, fixedKey, pathKey, typedKey } from './field-keys.ts'
import { maxTermLength } from './index-format.ts'

/** No put succeeds after a removal: its version is above all revisions. */
const lastVersion = Number.MAX_SAFE_INTEGER
/** Limits of one entry, in addition to those of the documents. */
const maxNumbers = 5000
const maxWords = 300_000

/** The stored fields of a resource, by their names in the mapping. */
interface Entry {
  readonly has: Set<string>
  readonly is: Set<string>
  /** The words of each value, each prefixed with the key of its field. */
  readonly word: string[]
  readonly any: string[]
  readonly fields: Set<string>
  readonly suggested: Set<string>
  readonly written: Set<string>
  readonly values: { readonly field: readonly string[]; readonly number: number }[]
  wordCount: number
}

/** A change as sent. */
export function toWrite(change: IndexChange): Write {
  if ('remove' in change) return unfindable(change.remove, lastVersion)
  const { id, revision, isListed } = change.put
  const version = Math.min(Math.max(Math.trunc(revision), 0), lastVersion - 1)
  if (!isListed) return unfindable(id, version)
  const rights = rightsOf(change.put)
  return { id, version, source: JSON.stringify({ ...rights, ...contentsOf(change.put) }), bare: JSON.stringify(rights) }
}

function unfindable(id: string, version: number): Write {
  const source = '{"isListed":false}'
  return { id, version, source, bare: source }
}

/** What decides access and order. */
const rightsOf = ({ id, kind, created, creator, isPublic, spaces, childOf }: SearchDocument) => ({
  key: id,
  kind,
  isListed: true,
  created: Number.isFinite(created.getTime()) ? created.getTime() : 0,
  year: Number.isFinite(created.getTime()) ? String(created.getUTCFullYear()) : '1970',
  author: creator,
  isPublic,
  spaces,
  within: childOf,
})

function contentsOf(document: SearchDocument): Readonly<Record<string, unknown>> {
  const entry: Entry = {
    has: new Set(),
    is: new Set(),
    word: [],
    any: [],
    fields: new Set(),
    suggested: new Set(),
    written: new Set(),
    values: [],
    wordCount: 0,
  }
  const texts = textsOf(document)
  for (const { field, values, isInOwnField } of texts) for (const value of values) addFixed(entry, field, value, isInOwnField)
  for (const { field, value } of document.metadata) addMetadata(entry, field, value)
  const own = texts.filter(({ isInOwnField }) => isInOwnField).map(({ in: name, values }) => [name, values.map(words)] as const)
  const metadata = document.metadata.flatMap(({ value, written = '' }) => [words(asText(value)), words(written)])
  return {
    ...Object.fromEntries(own),
    any: [...own.flatMap(([, values]) => values), ...metadata, words(document.text ?? '')].filter(value => value !== ''),
    tagList: [...new Set(document.tags.map(tag => tag.slice(0, maxTermLength).toWellFormed()))],
    ...(document.contentType ? { mediaType: foldValue(document.contentType).slice(0, maxTermLength).toWellFormed() } : {}),
    has: [...entry.has],
    is: [...entry.is],
    word: entry.word,
    fieldList: [...entry.fields],
    valueList: [...entry.suggested],
    written: [...entry.written],
    values: entry.values,
  }
}

interface Texts {
  readonly field: FixedField
  readonly values: readonly string[]
  /** Its words are in a text field of this name, and are found by a bare word. */
  readonly isInOwnField: boolean
  readonly in: string
}

function textsOf(document: SearchDocument): readonly Texts[] {
  const { name, description, tags, comments, createdAs = '', creatorName, creator, creatorEmail, contentType = '' } = document
  return [
    { field: 'name', in: 'name', values: [name], isInOwnField: true },
    { field: 'description', in: 'description', values: [description], isInOwnField: true },
    { field: 'tag', in: 'tags', values: tags, isInOwnField: true },
    { field: 'comment', in: 'comments', values: comments, isInOwnField: true },
    { field: 'created_as', in: 'created_as', values: [createdAs], isInOwnField: true },
    { field: 'creator', in: '', values: [creatorName, creator], isInOwnField: false },
    { field: 'email', in: '', values: [creatorEmail], isInOwnField: false },
    { field: 'content_type', in: '', values: [contentType], isInOwnField: false },
  ]
}

function addFixed(entry: Entry, field: FixedField, value: string, isInOwnField: boolean): void {
  if (value === '') return
  const key = fixedKey(field)
  entry.has.add(key)
  entry.is.add(textToken(key, value))
  if (!isInOwnField) addWords(entry, typedKey(key, 'text'), wordsOf(value))
}

function addMetadata(entry: Entry, path: string, value: MetadataValue['value']): void {
  const type = typeOf(value)
  if (!type) return
  for (const each of above(path)) entry.has.add(pathKey(each))
  const found = wordsOf(asText(value)).slice(0, wordsPerValue)
  const keys = endsOf(path).map(pathKey)
  for (const key of keys) {
    entry.has.add(key)
    entry.has.add(typedKey(key, type))
    addWords(entry, typedKey(key, type), found)
    if (typeof value === 'number') entry.is.add(numberToken(key, value))
    else if (!(value instanceof Date)) entry.is.add(textToken(key, String(value)))
  }
  const number = value instanceof Date ? value.getTime() : value
  if (typeof number === 'number' && entry.values.length < maxNumbers)
    entry.values.push({ field: keys.map(key => typedKey(key, type)), number })
  entry.fields.add(path.slice(0, maxTermLength).toWellFormed())
  addSuggestions(entry, keys, asText(value))
}

/** The displayed form of a suggestion is stored separately, since upper and lower case are one value. */
function addSuggestions(entry: Entry, keys: readonly string[], text: string): void {
  const folded = comparableText(text)
  for (const key of keys) entry.suggested.add(key + folded)
  const written = text.normalize('NFC').trim().slice(0, comparedChars).toWellFormed()
  if (written !== folded) entry.written.add(written)
}

function addWords(entry: Entry, key: string, found: readonly string[]): void {
  if (found.length === 0 || entry.wordCount + found.length > maxWords) return
  entry.wordCount += found.length
  entry.word.push(found.map(word => key + word).join(' '))
}

/** The type by which a value is compared; undefined when it is not a value. */
function typeOf(value: MetadataValue['value']): FieldType | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? 'number' : undefined
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : 'date'
  return 'text'
}

const asText = (value: MetadataValue['value']): string => {
  if (!(value instanceof Date)) return String(value)
  return Number.isNaN(value.getTime()) ? '' : value.toISOString()
}

const words = (text: string): string => wordsOf(text).join(' ')

/** The term of a number in a field. */
export const numberToken = (key: string, value: number): string => `${typedKey(key, 'number')}${value}`

/** The term of a whole text in a field; for a long one the beginning, by which texts are sorted, and a digest. */
export function textToken(key: string, value: string): string {
  const folded = foldValue(value).toWellFormed()
  const beginning = comparableText(value)
  const rest = beginning === folded ? '' : `\u0000${hash('sha1', folded).slice(0, 16)}`
  return `${typedKey(key, 'text')}${beginning}${rest}`
}
