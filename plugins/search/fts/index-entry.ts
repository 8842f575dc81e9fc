import type { MetadataValue, SearchDocument } from 'pounce/sdk'
import { columns } from './schema.ts'
import { type FixedField, fieldToken, fixedFields, tokens } from './tokens.ts'
import { foldValue, wordsOf } from './words.ts'

export type FieldType = 'number' | 'date' | 'text'

/** A value as it is kept for comparing and sorting. */
export interface IndexedValue {
  readonly field: number
  readonly v: number | string
}

/** A document in the form in which the index keeps it. */
export interface IndexEntry {
  /** Text of each column, in the order of `columns`. */
  readonly texts: readonly string[]
  readonly values: readonly IndexedValue[]
  /** Numbers of its metadata fields, and of those that have several values. */
  readonly fields: readonly number[]
  readonly manyValued: readonly number[]
  /** Every different word. */
  readonly words: ReadonlySet<string>
}

/** Longer text is compared by its beginning only. */
export const comparedChars = 200
const wordsPerField = 2000

/** The type that decides what a value is compared with. */
export function typeOf(value: MetadataValue['value']): FieldType {
  if (typeof value === 'number') return 'number'
  return value instanceof Date ? 'date' : 'text'
}

/** What is kept of a value for comparing. */
export function comparable(value: MetadataValue['value']): number | string {
  if (typeof value === 'number') return value
  return value instanceof Date ? value.getTime() : foldValue(String(value)).slice(0, comparedChars)
}

/** Makes the entry of a document; `fieldId` numbers its metadata fields. */
export function toEntry(document: SearchDocument, fieldId: (name: string, type: FieldType) => number): IndexEntry {
  const words = new Set<string>()
  const found = new Set<string>()
  const text = (...texts: readonly (string | undefined)[]): string => joinWords(texts, words)
  const { values, fields, manyValued } = indexMetadata(document.metadata, fieldId, found)
  addFixed(document, found)
  addPlaces(document, found)
  const columnTexts: Record<keyof typeof columns, string> = {
    name: text(document.name),
    tags: text(...document.tags),
    description: text(document.description),
    createdas: text(document.createdAs),
    comments: text(...document.comments),
    metadata: text(...document.metadata.map(({ value }) => (value instanceof Date ? value.toISOString() : String(value)))),
    text: text(document.text),
    tokens: [...found].join(' '),
  }
  return { texts: Object.keys(columns).map(name => columnTexts[name as keyof typeof columns]), values, fields, manyValued, words }
}

/** The words of several texts; a lone `_` between them keeps phrases from reaching across. */
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
  found: Set<string>,
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
    values.push({ field: id, v: comparable(value) })
    addValue(fieldToken(id), value, found)
  }
  return { values, fields: [...fields], manyValued: [...manyValued] }
}

function addValue(field: string, value: MetadataValue['value'], found: Set<string>): void {
  found.add(tokens.has(field))
  found.add(tokens.equals(field, value))
  addWords(field, value instanceof Date ? value.toISOString() : String(value), found)
}

function addWords(field: string, text: string, found: Set<string>): void {
  for (const word of wordsOf(text).slice(0, wordsPerField)) found.add(tokens.word(field, word))
}

function addFixed(document: SearchDocument, found: Set<string>): void {
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
      found.add(tokens.has(token))
      found.add(tokens.equals(token, value))
      if (!column) addWords(token, value, found)
    }
  }
}

function addPlaces(document: SearchDocument, found: Set<string>): void {
  found.add(tokens.all)
  found.add(tokens.kind(document.kind))
  found.add(tokens.author(document.creator))
  if (document.isPublic) found.add(tokens.isPublic)
  for (const id of document.spaces) found.add(tokens.space(id))
  for (const id of document.childOf) found.add(tokens.within(id))
  for (const id of document.parentOf) found.add(tokens.containing(id))
}
