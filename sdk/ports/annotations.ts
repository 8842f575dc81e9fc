import type { Ref } from '../model/kind.ts'
import type { CommentRecord, MetadataRecord, PreviewRecord, SectionRecord, Tag } from '../model/records.ts'
import { port } from '../port.ts'
import type { After, Json, Page, Stored } from './document-store.ts'
import type { DerivedFile } from './extractor.ts'
import type { Records } from './records.ts'

/** Sections of files. */
export interface Sections extends Records<SectionRecord> {
  /** The sections of a file, or of several, by start time; those without one come first. */
  of(files: string | readonly string[], page: { readonly after?: After; readonly limit: number }): Promise<Page<SectionRecord & Stored>>
}
export const Sections = port<Sections>('sections')

/** The input for a new metadata document. */
export interface NewMetadata {
  readonly target: Ref
  readonly context?: Json
  readonly agent: MetadataRecord['agent']
  readonly content: Json
  readonly created?: string
  readonly author: string | null
  /** The document's id; makes repeated calls idempotent. */
  readonly id?: string
  /** Id of the job whose extractor adds it, known from the job's key. */
  readonly job?: string
  /** The target is a dataset being imported or in one: no event is emitted. */
  readonly isImporting?: boolean
}
/** JSON-LD documents on resources. */
export interface MetadataDocuments {
  add(document: NewMetadata): Promise<MetadataRecord & Stored>
  get(id: string): Promise<(MetadataRecord & Stored) | undefined>
  /**
   * The documents of a resource, or of several of one kind, newest first, in pages of at most 1,000. `extractor`: only documents of this extractor name, optionally `name/version`. A page may be short or even empty
   * and still have `next`: large documents end it early, and documents of other extractors are skipped.
   */
  of(
    targets: Ref | readonly Ref[],
    options?: { readonly extractor?: string; readonly after?: After; readonly limit?: number },
  ): Promise<Page<MetadataRecord & Stored>>
}
export const MetadataDocuments = port<MetadataDocuments>('metadataDocuments')

/** Comments on resources. */
export interface Comments {
  /** `to`: the comment to reply to. `NotFound` if it was deleted. */
  add(target: Ref, text: string, author: string | undefined, to?: CommentRecord & Stored): Promise<CommentRecord & Stored>
  get(id: string): Promise<(CommentRecord & Stored) | undefined>
  /** Replaces the text. `NotFound` for an unknown comment. */
  edit(id: string, text: string, actor: string | undefined): Promise<void>
  /** The comments on a resource, or on several, oldest first. */
  of(targets: Ref | readonly Ref[], page: { readonly after?: After; readonly limit: number }): Promise<Page<CommentRecord & Stored>>
}
export const Comments = port<Comments>('comments')

/** Tags on resources of any kind that supports them. */
export interface Tags {
  /** Trims names and drops duplicates; resolves to the newly added tags. */
  add(target: Ref, names: readonly string[], by: { readonly user?: string; readonly extractor?: string }): Promise<readonly Tag[]>
}
export const Tags = port<Tags>('tags')

/** Previews and thumbnails. */
export interface Previews {
  /** Stores a derived file and attaches it. `id` makes repeated calls idempotent. */
  addPreview(
    target: Ref,
    file: DerivedFile & { readonly id?: string },
    by: { readonly extractor: string; readonly author?: string },
  ): Promise<string>
  /** The same for a thumbnail; also sets it on the file's datasets and their collections if they have none. */
  addThumbnail(
    target: Ref,
    file: DerivedFile & { readonly id?: string },
    by: { readonly extractor: string; readonly author?: string },
  ): Promise<string>
  of(target: Ref): Promise<readonly (PreviewRecord & Stored)[]>
}
export const Previews = port<Previews>('previews')
