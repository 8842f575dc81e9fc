import type { Caller } from '../model/caller.ts'
import type { Ref } from '../model/kind.ts'
import { contributions, port } from '../port.ts'
import type { Json } from './document-store.ts'

/** Validates metadata entered by people before it is stored. Metadata from extractors is not validated. */
export interface MetadataCheck {
  /**
   * Throws `Invalid`, naming the field and, as far as the caller may know it, the expected value. `target` exists, or is the future container (the dataset, for
   * a file to be created).
   */
  check(target: Ref, content: Json, caller: Caller): Promise<void>
}
/** Plugins that validate metadata. */
export const MetadataChecks = contributions<MetadataCheck>('metadataChecks')

/** Shared vocabularies, for fields with terms from a list. */
export interface StandardVocabularies {
  /** The terms in list order; undefined for an unknown id. */
  terms(id: string): Promise<readonly string[] | undefined>
}
export const StandardVocabularies = port<StandardVocabularies>('standardVocabularies')

/** Well-known names of metadata fields, for suggestions in queries and forms. */
export interface MetadataNaming {
  /** At most `limit` names with this prefix, ignoring case, that the caller may see. */
  names(prefix: string, caller: Caller, limit: number): Promise<readonly string[]>
}
/** Plugins with names of metadata fields. */
export const MetadataNamings = contributions<MetadataNaming>('metadataNamings')
