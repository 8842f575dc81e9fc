import {
  and,
  type Caller,
  Clock,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  Ids,
  Installation,
  Invalid,
  isIn,
  type MetadataNaming,
  type Stored,
  Taken,
  wire,
} from 'pounce/sdk'
import { updateWithRetry } from 'pounce/sdk/kit'
import type { Committed } from 'pounce/sdk/store-kit'
import { type DefinitionRecord, definitions, everywhere } from './collection.ts'
import { Config, type Settings } from './config.ts'
import { type NewDefinition, requireAddresses } from './definition-json.ts'
import { derivedId, firstDefinitions } from './first-definitions.ts'

/** An existing definition with the id or URI counts as created. */
export const requireThere = (outcome: readonly Committed<DefinitionRecord>[]): void => {
  for (const each of outcome) if (!each.ok && !(each.error instanceof CommitConflict) && !(each.error instanceof Taken)) throw each.error
}

export type Definition = DefinitionRecord & Stored

const spaceOf = (scope: string): string | null => (scope === everywhere ? null : scope)

/** `water level` → `WaterLevel`. */
const asName = (label: string): string =>
  encodeURIComponent(
    label
      .trim()
      .split(/\s+/)
      .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
      .join('')
      .toWellFormed(),
  )

const orNull = (text: string | null | undefined): string | null => (text === undefined || text === '' ? null : text)

/** Definitions in the document store. */
export class StoredDefinitions {
  #uriPrefix: string
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock

  constructor({ uriPrefix }: Settings, installation: Installation, documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#uriPrefix = uriPrefix === '' ? `${installation.baseUrl}/metadata` : uriPrefix
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  /** Creates the initial definitions if there are none. Two kernels that start concurrently create them once. */
  async start(): Promise<void> {
    if ((await this.#documents.count(definitions, { using: 'byScope', where: eq('scope', everywhere), upTo: 1 })) > 0) return
    const created = this.#clock.now().toISOString()
    const outcome = await this.#documents.commitEach(
      firstDefinitions.map(({ definitionsUrl = null, ...first }) => ({
        change: {
          insert: {
            id: derivedId('first', first.uri),
            scope: everywhere,
            ...first,
            definitionsUrl,
            queryParameter: null,
            author: null,
            created,
          },
          into: definitions,
        },
      })),
    )
    requireThere(outcome)
  }

  get(id: string): Promise<Definition | undefined> {
    return this.#documents.get(definitions, id)
  }

  /** Definitions of spaces, or of `everywhere`, by label; read during iteration. */
  in(...scopes: readonly string[]): AsyncIterable<Definition> {
    return this.#documents.scan(definitions, {
      using: 'byScope',
      where: isIn('scope', scopes),
      sort: { by: 'label', order: 'ascending' },
    })
  }

  async hasAny(scopes: readonly string[]): Promise<boolean> {
    if (scopes.length === 0) return false
    return (await this.#documents.count(definitions, { using: 'byScope', where: isIn('scope', scopes), upTo: 1 })) > 0
  }

  /** Definitions with these labels in these scopes. At most 200 labels. */
  async labelled(labels: readonly string[], scopes: () => Promise<readonly string[]>): Promise<readonly Definition[]> {
    const named = isIn('label', labels)
    if ((await this.#documents.count(definitions, { using: 'byLabel', where: named, upTo: 1 })) === 0) return []
    const where = and(named, isIn('scope', await scopes()))
    return Array.fromAsync(this.#documents.scan(definitions, { using: 'byLabel', where }))
  }

  /** False, without effect, when the scope has a definition with this URI, as in Clowder 1.x. Throws `Invalid` for invalid URLs. */
  async add(scope: string, definition: NewDefinition, author: string): Promise<boolean> {
    const id = this.#ids.next()
    const record = { scope, ...this.#fieldsOf(scope, definition), author, created: this.#clock.now().toISOString() }
    const added = event('definition.added', { kind: 'definition', id }, { space: spaceOf(scope) }, author)
    try {
      await this.#documents.commit({ insert: { id, ...record }, into: definitions }, [added])
      return true
    } catch (error) {
      if (error instanceof Taken) return false
      throw error
    }
  }

  /** Throws `NotFound` for a deleted definition, `Invalid` when another one of its scope has the URI. */
  async change(id: string, definition: NewDefinition, actor: string | undefined): Promise<void> {
    try {
      await updateWithRetry(this.#documents, definitions, { kind: 'definition', id }, ({ scope }) => ({
        set: this.#fieldsOf(scope, definition),
        events: [event('definition.updated', { kind: 'definition', id }, { space: spaceOf(scope) }, actor)],
      }))
    } catch (error) {
      if (!(error instanceof Taken)) throw error
      throw new Invalid('Metadata definition with same uri exists.', { cause: error })
    }
  }

  /** A deleted one is not an error. */
  async remove({ id, scope }: Definition, actor: string | undefined): Promise<void> {
    const removed = event('definition.removed', { kind: 'definition', id }, { space: spaceOf(scope) }, actor)
    try {
      await this.#documents.commit({ tombstone: id, in: definitions }, [removed])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  #fieldsOf(scope: string, definition: NewDefinition) {
    requireAddresses(definition)
    const { label, type, uri, description, definitions_url, query_parameter } = definition
    const prefix = scope === everywhere ? this.#uriPrefix : `${this.#uriPrefix}/${scope}`
    return {
      label: label.trim(),
      type: type.trim(),
      uri: uri ? uri : `${prefix}#${asName(label)}`,
      description: orNull(description),
      definitionsUrl: orNull(definitions_url),
      queryParameter: orNull(query_parameter),
    }
  }
}
wire(StoredDefinitions, Config, Installation, DocumentStore, Ids, Clock)

const maxRead = 5000

/** The spaces whose definitions apply to a caller: those they are a member of and may view. */
export const spacesOfCaller = (caller: Caller): readonly string[] =>
  caller.user?.memberships
    .filter(({ space, permissions }) => permissions.has('ViewSpace') && (caller.limits?.spaces?.has(space) ?? true))
    .map(({ space }) => space) ?? []

/** The labels of definitions as display names of fields. */
export class DefinitionNames implements MetadataNaming {
  #definitions: StoredDefinitions

  constructor(definitions: StoredDefinitions) {
    this.#definitions = definitions
  }

  async names(prefix: string, caller: Caller, limit: number): Promise<readonly string[]> {
    const wanted = prefix.toLowerCase()
    const names = new Set<string>()
    let read = 0
    for await (const { label } of this.#definitions.in(everywhere, ...spacesOfCaller(caller))) {
      if (label.toLowerCase().startsWith(wanted)) names.add(label)
      read += 1
      if (names.size >= limit || read >= maxRead) break
    }
    return [...names]
  }
}
wire(DefinitionNames, StoredDefinitions)
