import {
  type Caller,
  type Contributions,
  Invalid,
  type Kind,
  type MetadataNaming,
  MetadataNamings,
  Policy,
  SearchIndex,
  wire,
} from 'pounce/sdk'
import type { FieldCount, ValueCount } from 'pounce/sdk/search'
import { annotatedPart } from './annotated-part.ts'

/** Fields without suggested values. */
const fixed = [
  'name',
  'description',
  'creator',
  'email',
  'created',
  'created_as',
  'resource_type',
  'content_type',
  'comment',
  'in',
  'contains',
]

/** Suggestions while a query is typed: hidden resources are neither shown nor counted. */
export class SuggestionService {
  #index: SearchIndex
  #policy: Policy
  #namings: Contributions<MetadataNaming>

  constructor(index: SearchIndex, policy: Policy, namings: Contributions<MetadataNaming>) {
    this.#index = index
    this.#policy = policy
    this.#namings = namings
  }

  /** Names as used in queries: those of fields that every resource has are prefixed. */
  async fields(prefix: string, limit: number, caller: Caller): Promise<readonly FieldCount[]> {
    const found = await this.#paths(prefix, limit, caller)
    return found.map(({ field, count }) => ({ field: field === 'tag' || fixed.includes(field) ? `metadata.${field}` : field, count }))
  }

  async values(field: string, prefix: string, limit: number, caller: Caller): Promise<readonly ValueCount[]> {
    if (fixed.includes(field)) throw new Invalid(`Values are available for tag and metadata fields, not for ${field}`)
    if (field !== 'tag') return this.#index.values(field, prefix, annotatedPart(this.#policy.searchScope(caller), 'metadata'), limit)
    return (await this.tags(prefix, limit, caller)).map(({ tag, count }) => ({ value: tag, count }))
  }

  /** Names of metadata fields as used in queries: those of definitions, then others in use, each once. */
  async metadataNames(prefix: string, limit: number, caller: Caller): Promise<readonly string[]> {
    const start = prefix.replace(/^metadata\./, '')
    const agreed = await Promise.all(this.#namings.all().map(naming => naming.names(start, caller, limit)))
    const used = (await this.#paths(start, limit, caller)).map(({ field }) => field)
    return [...new Set([...agreed.flat(), ...used])].slice(0, limit).map(name => `metadata.${name}`)
  }

  tags(prefix: string, limit: number, caller: Caller, kind?: Kind): Promise<readonly { readonly tag: string; readonly count: number }[]> {
    const scope = this.#policy.searchScope(caller)
    // Those of files include the tags of their sections.
    return this.#index.tags(prefix, kind === undefined || kind === 'file' ? annotatedPart(scope, 'sections') : scope, limit, kind)
  }

  #paths(prefix: string, limit: number, caller: Caller): Promise<readonly FieldCount[]> {
    return this.#index.fields(prefix.replace(/^metadata\./, ''), annotatedPart(this.#policy.searchScope(caller), 'metadata'), limit)
  }
}
wire(SuggestionService, SearchIndex, Policy, MetadataNamings)
