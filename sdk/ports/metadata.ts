import type { Caller } from '../model/caller.ts'
import type { Ref } from '../model/kind.ts'
import { contributions, port } from '../port.ts'
import type { Json } from './document-store.ts'

/** Looks at what a person wants to say of a resource before it is kept. Content of extractors is never looked at. */
export interface MetadataCheck {
  /** Throws `Invalid`, naming the field and what it takes. `target` exists, or is where the resource will be (a dataset, for a file to come). */
  check(target: Ref, content: Json): Promise<void>
}
/** Plugins that check metadata before it is stored. */
export const MetadataChecks = contributions<MetadataCheck>('metadataChecks')

/** Lists of words that everyone shares, for fields that take one of them. */
export interface StandardVocabularies {
  /** In the order of the list; undefined when there is none with this id. */
  terms(id: string): Promise<readonly string[] | undefined>
}
export const StandardVocabularies = port<StandardVocabularies>('standardVocabularies')

/** Names that fields of metadata have by agreement, for people who type a query or fill in a form. */
export interface MetadataNaming {
  /** Names with this prefix, in any letter case, that the caller may see; at most `limit`. */
  names(prefix: string, caller: Caller, limit: number): Promise<readonly string[]>
}
/** Plugins that provide names of metadata fields. */
export const MetadataNamings = contributions<MetadataNaming>('metadataNamings')
