import type { Json, MetadataRecord } from 'pounce/sdk'
import type { MetadataValue } from 'pounce/sdk/search'
import { metadataValueOf } from 'pounce/sdk/search'

/** Limits for the index entry of one resource. */
const maxValues = 2000
const maxDepth = 16
const maxValueLength = 1000
const maxTextLength = 100_000
/** A document with more values leaves room for those of older ones. */
const maxValuesFirst = maxValues / 2
/** Maximum number of values visited in a document: most values of a very large one are skipped. */
const maxVisited = 20_000

/** The indexed metadata of one resource. */
export interface IndexedMetadata {
  readonly values: readonly MetadataValue[]
  /** Long texts, such as that of a PDF, which are searched but not compared. */
  readonly text: string
}

/** Fields of extractors are prefixed with the extractor's name, with underscores instead of dots; those of users are not. */
const prefixOf = ({ agent }: MetadataRecord): string => (agent.kind === 'extractor' ? `${agent.name.replaceAll('.', '_')}.` : '')

/** Flattens documents to dotted paths. Each element of an array becomes a value under the same path. */
export const metadataValues = (documents: readonly MetadataRecord[]): IndexedMetadata => {
  const collected = new MetadataCollector()
  for (const document of documents) collected.add(document)
  return collected.metadata
}

/** Collects the metadata of one resource, from the newest document on. */
export class MetadataCollector {
  readonly #values: MetadataValue[] = []
  /** Values after the first ones of large documents, used if there is room. */
  readonly #more: MetadataValue[] = []
  #text = ''

  /** No further document would add a value. */
  get isFull(): boolean {
    return this.#values.length >= maxValues
  }

  get metadata(): IndexedMetadata {
    return { values: [...this.#values, ...this.#more].slice(0, maxValues), text: this.#text }
  }

  add(document: MetadataRecord): void {
    let visited = 0
    let count = 0
    const isDone = (): boolean => this.isFull || count >= maxValues || visited >= maxVisited
    const addValue = (value: MetadataValue): void => {
      count += 1
      const list = count <= maxValuesFirst ? this.#values : this.#more
      list.push(value)
    }
    const addText = (field: string, value: string): void => {
      if (value.length <= maxValueLength) addValue(metadataValueOf(field, value))
      else if (this.#text.length < maxTextLength) this.#text += `${value.slice(0, maxTextLength - this.#text.length)}\n`
    }
    const walkMembers = (field: string, members: Readonly<Record<string, Json>>, depth: number): void => {
      for (const key in members) {
        if (isDone()) return
        walk(join(field, key), members[key] ?? null, depth)
      }
    }
    const walkItems = (field: string, items: readonly Json[], depth: number): void => {
      for (const item of items) {
        if (isDone()) return
        walk(field, item, depth)
      }
    }
    const walk = (field: string, value: Json, depth: number): void => {
      visited += 1
      if (isDone() || depth > maxDepth || value === null) return
      if (typeof value === 'string') addText(field, value)
      else if (typeof value === 'number' || typeof value === 'boolean') addValue({ field, value })
      else if (Array.isArray(value)) walkItems(field, value as readonly Json[], depth + 1)
      else walkMembers(field, value as Readonly<Record<string, Json>>, depth + 1)
    }
    walk(prefixOf(document), document.content, 0)
  }
}

const join = (field: string, key: string): string => {
  const name = key.replaceAll('.', '_').slice(0, 200).toWellFormed()
  return field === '' || field.endsWith('.') ? `${field}${name}` : `${field}.${name}`
}
