import type { MetadataValue, SearchDocument } from 'pounce/sdk/search'
import { comparableText, comparedChars, wordsOf, wordsPerValue } from 'pounce/sdk/search'
import { columns } from './schema.ts'
import { type FixedField, fieldToken, fixedFields, tokens } from './tokens.ts'

export type FieldType = 'number' | 'date' | 'text'

/** A value as stored for comparing and sorting. */
export interface IndexedValue {
  readonly field: number
  readonly v: number | string
  /** The original text, where it differs from `v`. */
  readonly shown?: string
}

/** A document as stored in the index. */
export interface IndexEntry {
  /** Text of each column, in the order of `columns`. */
  readonly texts: readonly string[]
  readonly values: readonly IndexedValue[]
  /** IDs of its metadata fields; `manyValued` are those with several values. */
  readonly fields: readonly number[]
  readonly manyValued: readonly number[]
  /** The distinct words. */
  readonly words: ReadonlySet<string>
}

/** The synthetic words of a document: unordered flags, and rows of words whose order is significant. */
interface SyntheticWords {
  readonly flags: Set<string>
  readonly rows: string[]
}

/** The type by which a value is compared. */
export function typeOf(value: MetadataValue['value']): FieldType {
  if (typeof value === 'number') return 'number'
  return value instanceof Date ? 'date' : 'text'
}

/** The stored form of a value for comparisons and suggestions. */
function storedValue(value: MetadataValue['value']): { readonly v: number | string; readonly shown?: string } {
  if (typeof value === 'number') return { v: value }
  if (value instanceof Date) return { v: value.getTime() }
  const v = comparableText(String(value))
  const shown = String(value).trim().slice(0, comparedChars).toWellFormed()
  return shown === v ? { v } : { v, shown }
}

/** Creates the entry of a document; `fieldId` returns the ID of a metadata field. */
export function toEntry(document: SearchDocument, fieldId: (name: string, type: FieldType) => number): IndexEntry {
  const words = new Set<string>()
  const found: SyntheticWords = { flags: new Set(), rows: [] }
  const text = (...texts: readonly (string | undefined)[]): string => joinWords(texts, words)
  const { values, fields, manyValued } = indexMetadata(document.metadata, fieldId, found)
  addFixed(document, found, words)
  addPlaces(document, found)
  const columnTexts: Record<(typeof columns)[number], string> = {
    name: text(document.name),
    tags: text(...document.tags),
    description: text(document.description),
    createdas: text(document.createdAs),
    comments: text(...document.comments),
    metadata: text(
      ...document.metadata.flatMap(({ value, written }) => [value instanceof Date ? value.toISOString() : String(value), written]),
    ),
    text: text(document.text),
    tokens: [[...found.flags].join(' '), ...found.rows].join(' _ '),
  }
  return { texts: columns.map(name => columnTexts[name]), values, fields, manyValued, words }
}

/** The words of several texts, separated by `_` so that no phrase matches across two texts. */
function joinWords(texts: readonly (string | undefined)[], all: Set<string>): string {
  const parts: string[] = []
  for (const each of texts) {
    if (!each) continue
    const words = wordsOf(each)
    for (const word of words) all.add(word)
    parts.push(words.join(' '))
  }
  return parts.join(' _ ')
}

function indexMetadata(
  metadata: readonly MetadataValue[],
  fieldId: (name: string, type: FieldType) => number,
  found: SyntheticWords,
): { readonly values: readonly IndexedValue[]; readonly fields: readonly number[]; readonly manyValued: readonly number[] } {
  const values: IndexedValue[] = []
  const fields = new Set<number>()
  const manyValued = new Set<number>()
  for (const { field, value } of metadata) {
    if (typeof value === 'number' && !Number.isFinite(value)) continue
    if (value instanceof Date && Number.isNaN(value.getTime())) continue
    const id = fieldId(field, typeOf(value))
    if (fields.has(id)) manyValued.add(id)
    fields.add(id)
    values.push({ field: id, ...storedValue(value) })
    addValue(fieldToken(id), value, found)
  }
  return { values, fields: [...fields], manyValued: [...manyValued] }
}

function addValue(field: string, value: MetadataValue['value'], found: SyntheticWords): void {
  found.flags.add(tokens.has(field))
  found.flags.add(tokens.equals(field, value))
  addWords(field, value instanceof Date ? value.toISOString() : String(value), found)
}

function addWords(field: string, text: string, found: SyntheticWords): void {
  const words = wordsOf(text).slice(0, wordsPerValue)
  const row = words.map(word => tokens.word(field, word))
  if (row.length > 1) found.rows.push(row.join(' '))
  else for (const word of row) found.flags.add(word)
}

function addFixed(document: SearchDocument, found: SyntheticWords, all: Set<string>): void {
  const fixed: Record<FixedField, readonly (string | undefined)[]> = {
    name: [document.name],
    description: [document.description],
    creator: [document.creatorName, document.creator],
    email: [document.creatorEmail],
    tag: document.tags,
    created_as: [document.createdAs],
    content_type: [document.contentType],
    comment: document.comments,
  }
  for (const [name, values] of Object.entries(fixed)) {
    const { token, column } = fixedFields[name as FixedField]
    for (const value of values) {
      if (!value) continue
      found.flags.add(tokens.has(token))
      found.flags.add(tokens.equals(token, value))
      if (column) continue
      addWords(token, value, found)
      for (const word of wordsOf(value)) all.add(word)
    }
  }
}

function addPlaces(document: SearchDocument, found: SyntheticWords): void {
  found.flags.add(tokens.all)
  found.flags.add(tokens.kind(document.kind))
  found.flags.add(tokens.author(document.creator))
  if (document.isPublic) found.flags.add(tokens.isPublic)
  // The spaces of other files include the authors of their datasets.
  if (document.kind === 'file' && document.spaces.length === 0) found.flags.add(tokens.isUnplaced)
  for (const id of document.spaces) found.flags.add(tokens.space(id))
  if (document.childOf.length > 0) found.flags.add(tokens.has('in'))
  for (const id of document.childOf) found.flags.add(tokens.within(id))
}
