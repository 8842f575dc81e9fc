import { type Caller, Invalid, type Json, type MetadataCheck, type Ref, StandardVocabularies, wire } from 'pounce/sdk'
import { isJsonObject } from 'pounce/sdk/kit'
import { everywhere } from './collection.ts'
import { Config, type Settings } from './config.ts'
import { DefinitionService, SpacesOf } from './definition-service.ts'
import { DefinitionTerms } from './definition-terms.ts'
import { type Definition, StoredDefinitions } from './stored-definitions.ts'
import { type Expectation, expectationOf, fits } from './value-checks.ts'

type Members = Readonly<Record<string, Json>>

/** A field of the content, with its sibling fields. */
interface Field {
  readonly value: Json
  readonly beside: Members
}

/** Maximum number of labels that are looked up by name. */
const maxCandidates = 200
const lists: ReadonlySet<string> = new Set(['list', 'listjquery'])

/** Validates metadata of users against the definitions of its fields. */
export class DefinitionCheck implements MetadataCheck {
  #isOff: boolean
  #definitions: StoredDefinitions
  #spaces: SpacesOf
  #service: DefinitionService
  #words: DefinitionTerms
  #vocabularies: StandardVocabularies

  constructor(
    { validate }: Settings,
    definitions: StoredDefinitions,
    spaces: SpacesOf,
    service: DefinitionService,
    words: DefinitionTerms,
    vocabularies: StandardVocabularies,
  ) {
    this.#isOff = validate === 'off'
    this.#definitions = definitions
    this.#spaces = spaces
    this.#service = service
    this.#words = words
    this.#vocabularies = vocabularies
  }

  async check(target: Ref, content: Json, caller: Caller): Promise<void> {
    if (this.#isOff) return
    const objects = objectsIn(content)
    const labels = labelsOf(objects)
    const scopes = async (): Promise<readonly string[]> => [everywhere, ...(await this.#spaces.of(target))]
    const candidates = [...labels].filter(label => label.length <= 500)
    const found =
      candidates.length > maxCandidates ? await this.#among(labels, await scopes()) : await this.#definitions.labelled(candidates, scopes)
    const fields = fieldsOf(objects, new Set(found.map(({ label }) => label)))
    for (const [label, all] of Map.groupBy(found, definition => definition.label)) {
      const definitions = nearest(all)
      const takes = await Promise.all(definitions.map(definition => this.#expectationOf(definition)))
      if ((fields.get(label) ?? []).some(field => !isAccepted(field, takes))) throw await this.#refusal(label, definitions, takes, caller)
    }
  }

  /** For a document with very many fields: the definitions are fewer, so they are scanned instead. */
  async #among(labels: ReadonlySet<string>, scopes: readonly string[]): Promise<readonly Definition[]> {
    const found: Definition[] = []
    for await (const definition of this.#definitions.in(...scopes)) if (labels.has(definition.label)) found.push(definition)
    return found
  }

  /** Definitions of spaces that the caller may not view apply as well, but are not quoted. */
  async #refusal(
    label: string,
    definitions: readonly Definition[],
    takes: readonly (Expectation | undefined)[],
    caller: Caller,
  ): Promise<Invalid> {
    const spaces = definitions.map(({ scope }) => scope).filter(scope => scope !== everywhere)
    const visible = [everywhere, ...(await this.#service.visibleSpaces(caller, spaces))]
    const at = definitions.findIndex(({ scope }) => visible.includes(scope))
    const [definition, expectation] = [definitions[at], takes[at]]
    if (!definition || !expectation) return new Invalid(`${label} must match the metadata definition of a space that you cannot view`)
    const { uri, type } = definition
    return new Invalid(
      `${label} must be ${expectation.what}, such as ${expectation.example} (metadata definition ${label}, ${uri}, of type ${type})`,
    )
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
wire(DefinitionCheck, Config, StoredDefinitions, SpacesOf, DefinitionService, DefinitionTerms, StandardVocabularies)

/** Spaces may define a field differently: a value is valid if one of the definitions accepts it or does not validate it. */
const isAccepted = ({ value, beside }: Field, takes: readonly (Expectation | undefined)[]): boolean =>
  takes.some(expectation => !expectation || fits(expectation, value, beside))

const objectsIn = (content: Json): readonly Members[] =>
  (Array.isArray(content) ? (content as readonly Json[]) : [content]).filter(one => isJsonObject(one))

const labelsOf = (objects: readonly Members[]): ReadonlySet<string> => {
  const labels = new Set<string>()
  for (const object of objects) for (const label of Object.keys(object)) labels.add(label)
  return labels
}

/** The fields with these labels: a document may have many others. */
const fieldsOf = (objects: readonly Members[], labels: ReadonlySet<string>): ReadonlyMap<string, readonly Field[]> => {
  const fields = new Map<string, Field[]>([...labels].map(label => [label, []]))
  if (labels.size === 0) return fields
  for (const beside of objects) for (const label of Object.keys(beside)) fields.get(label)?.push({ value: beside[label] ?? null, beside })
  return fields
}

/** Definitions of spaces take precedence over those of the installation. */
const nearest = (all: readonly Definition[]): readonly Definition[] => {
  const ofSpaces = all.filter(({ scope }) => scope !== everywhere)
  return ofSpaces.length > 0 ? ofSpaces : all
}
