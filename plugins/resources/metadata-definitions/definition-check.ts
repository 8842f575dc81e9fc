import { Invalid, type Json, type MetadataCheck, type Ref, StandardVocabularies, wire } from 'pounce/sdk'
import { everywhere } from './collection.ts'
import { Config, type Settings } from './config.ts'
import { SpacesOf } from './definition-service.ts'
import { DefinitionTerms } from './definition-terms.ts'
import { type Definition, StoredDefinitions } from './stored-definitions.ts'
import { type Expectation, expectationOf, fits } from './value-checks.ts'

type Members = Readonly<Record<string, Json>>

/** A field of the content, with its sibling fields. */
interface Field {
  readonly label: string
  readonly value: Json
  readonly beside: Members
}

/** Maximum number of labels that are looked up by name. */
const mostAsked = 200
const isMembers = (value: Json): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)
const lists: ReadonlySet<string> = new Set(['list', 'listjquery'])

/** Validates metadata of users against the definitions of its fields. */
export class DefinitionCheck implements MetadataCheck {
  #isOff: boolean
  #definitions: StoredDefinitions
  #spaces: SpacesOf
  #words: DefinitionTerms
  #vocabularies: StandardVocabularies

  constructor(
    { validate }: Settings,
    definitions: StoredDefinitions,
    spaces: SpacesOf,
    words: DefinitionTerms,
    vocabularies: StandardVocabularies,
  ) {
    this.#isOff = validate === 'off'
    this.#definitions = definitions
    this.#spaces = spaces
    this.#words = words
    this.#vocabularies = vocabularies
  }

  async check(target: Ref, content: Json): Promise<void> {
    if (this.#isOff) return
    const objects = objectsIn(content)
    const labels = labelsOf(objects)
    const scopes = async (): Promise<readonly string[]> => [everywhere, ...(await this.#spaces.of(target))]
    const asked = [...labels].filter(label => label.length <= 500)
    const found = asked.length > mostAsked ? await this.#among(labels, await scopes()) : await this.#definitions.labelled(asked, scopes)
    const fields = fieldsOf(objects, new Set(found.map(({ label }) => label)))
    for (const [label, all] of Map.groupBy(found, definition => definition.label)) {
      const takes = await Promise.all(nearest(all).map(definition => this.#expectationOf(definition)))
      for (const field of fields.get(label) ?? []) requireFit(field, nearest(all), takes)
    }
  }

  /** For a document with very many fields: the definitions are fewer, so they are scanned instead. */
  async #among(labels: ReadonlySet<string>, scopes: readonly string[]): Promise<readonly Definition[]> {
    const found: Definition[] = []
    for await (const definition of this.#definitions.in(...scopes)) if (labels.has(definition.label)) found.push(definition)
    return found
  }

  async #expectationOf({ type, definitionsUrl }: Definition): Promise<Expectation | undefined> {
    const expectation = expectationOf(type)
    const vocabulary = lists.has(type) && definitionsUrl !== null ? this.#words.vocabularyOf(definitionsUrl) : undefined
    const terms = vocabulary === undefined ? undefined : await this.#vocabularies.terms(vocabulary)
    if (!terms) return expectation
    const known = new Set(terms)
    return {
      fits: each => typeof each === 'string' && known.has(each.trim()),
      what: `one of the ${terms.length} terms at ${definitionsUrl}`,
      example: terms
        .slice(0, 5)
        .map(term => JSON.stringify(term))
        .join(' or '),
    }
  }
}
wire(DefinitionCheck, Config, StoredDefinitions, SpacesOf, DefinitionTerms, StandardVocabularies)

/** Spaces may define a field differently: a value is valid if one of the definitions accepts it or does not validate it. */
const requireFit = (
  { label, value, beside }: Field,
  definitions: readonly Definition[],
  takes: readonly (Expectation | undefined)[],
): void => {
  if (takes.some(expectation => !expectation || fits(expectation, value, beside))) return
  const [definition] = definitions
  const [expectation] = takes
  if (!definition || !expectation) return
  const { label: name, uri, type } = definition
  throw new Invalid(
    `${label} must be ${expectation.what}, such as ${expectation.example} (metadata definition ${name}, ${uri}, of type ${type})`,
  )
}

const objectsIn = (content: Json): readonly Members[] =>
  (Array.isArray(content) ? (content as readonly Json[]) : [content]).filter(isMembers)

const labelsOf = (objects: readonly Members[]): ReadonlySet<string> => {
  const labels = new Set<string>()
  for (const object of objects) for (const label of Object.keys(object)) labels.add(label)
  return labels
}

/** The fields with these labels: a document may have many others. */
const fieldsOf = (objects: readonly Members[], labels: ReadonlySet<string>): ReadonlyMap<string, readonly Field[]> => {
  const fields = new Map<string, Field[]>([...labels].map(label => [label, []]))
  if (labels.size === 0) return fields
  for (const beside of objects)
    for (const label of Object.keys(beside)) fields.get(label)?.push({ label, value: beside[label] ?? null, beside })
  return fields
}

/** Definitions of spaces take precedence over those of the installation. */
const nearest = (all: readonly Definition[]): readonly Definition[] => {
  const ofSpaces = all.filter(({ scope }) => scope !== everywhere)
  return ofSpaces.length > 0 ? ofSpaces : all
}
