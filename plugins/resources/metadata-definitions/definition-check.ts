import { Invalid, type Json, type MetadataCheck, type Ref, StandardVocabularies, wire } from 'pounce/sdk'
import { everywhere } from './collection.ts'
import { Config, type Settings } from './config.ts'
import { type DefinitionWords, ListWords } from './definition-words.ts'
import { type SpacesOf, SpacesOfThings } from './spaces-of.ts'
import { type Definition, Definitions, type StoredDefinitions } from './stored-definitions.ts'
import { type Expectation, expectationOf, fits } from './value-checks.ts'

type Members = Readonly<Record<string, Json>>

/** A field of the content, with the fields beside it. */
interface Field {
  readonly label: string
  readonly value: Json
  readonly beside: Members
}

const batch = 200
const isMembers = (value: Json): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)
const lists: ReadonlySet<string> = new Set(['list', 'listjquery'])

/** Holds what people say of things against the definitions of the fields they use. */
export class DefinitionCheck implements MetadataCheck {
  #isOff: boolean
  #definitions: StoredDefinitions
  #spaces: SpacesOf
  #words: DefinitionWords
  #vocabularies: StandardVocabularies

  constructor(
    { validate }: Settings,
    definitions: StoredDefinitions,
    spaces: SpacesOf,
    words: DefinitionWords,
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
    const fields = fieldsOf(content)
    let scopes: Promise<readonly string[]> | undefined
    const scopesOnce = (): Promise<readonly string[]> => {
      scopes ??= this.#spaces.of(target).then(spaces => [everywhere, ...spaces])
      return scopes
    }
    const labels = [...new Set(fields.map(({ label }) => label))].filter(label => label.length <= 500)
    for (let at = 0; at < labels.length; at += batch) {
      const found = await this.#definitions.labelled(labels.slice(at, at + batch), scopesOnce)
      const byLabel = Map.groupBy(found, ({ label }) => label)
      for (const field of fields) {
        const all = byLabel.get(field.label)
        if (all) await this.#checkField(field, nearest(all))
      }
    }
  }

  /** Spaces may define a field differently: what one of them takes is right. */
  async #checkField({ label, value, beside }: Field, candidates: readonly Definition[]): Promise<void> {
    let fault: string | undefined
    for (const definition of candidates) {
      const expectation = await this.#expectationOf(definition)
      if (!expectation || fits(expectation, value, beside)) return
      fault ??= `${label} must be ${expectation.what}, such as ${expectation.example}: so says the metadata definition ${definition.label} (${definition.uri}) of type ${definition.type}`
    }
    if (fault !== undefined) throw new Invalid(fault)
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
wire(DefinitionCheck, Config, Definitions, SpacesOfThings, ListWords, StandardVocabularies)

const fieldsOf = (content: Json): readonly Field[] =>
  (Array.isArray(content) ? (content as readonly Json[]) : [content])
    .filter(isMembers)
    .flatMap(beside => Object.entries(beside).map(([label, value]) => ({ label, value, beside })))

/** What a space says of a field counts before what the installation says. */
const nearest = (all: readonly Definition[]): readonly Definition[] => {
  const ofSpaces = all.filter(({ scope }) => scope !== everywhere)
  return ofSpaces.length > 0 ? ofSpaces : all
}
