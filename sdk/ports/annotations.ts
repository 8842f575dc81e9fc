import type { Ref } from '../model/kind.ts'
import type { CommentRecord, MetadataRecord, PreviewRecord, SectionRecord, Tag } from '../model/records.ts'
import { port } from '../port.ts'
import type { After, Json, Page, Stored } from './document-store.ts'
import type { DerivedFile } from './extractor.ts'
import type { Records } from './records.ts'

/** Parts of files. */
export interface Sections extends Records<SectionRecord> {
  /** Those of a file in the order of their start times; those without one come first. */
  of(file: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<SectionRecord & Stored>>
}
export const Sections = port<Sections>('sections')

/** What a new metadata document is made of. */
export interface NewMetadata {
  readonly target: Ref
  readonly context?: Json
  readonly agent: MetadataRecord['agent']
  readonly content: Json
  readonly created?: string
  readonly author: string | null
  /** Makes a repeat harmless: the document's id. */
  readonly id?: string
  /** On a dataset that is being imported, or in it: no event is emitted. */
  readonly isImporting?: boolean
}
/** JSON-LD documents on resources. */
export interface MetadataDocuments {
  add(document: NewMetadata): Promise<MetadataRecord & Stored>
  get(id: string): Promise<(MetadataRecord & Stored) | undefined>
  /**
   * Newest first, read in pages of at most 1,000. `extractor`: only those of this extractor name, optionally `name/version`. A page may be short,
   * even empty, and continue with `next`: large documents end it early, and those of others are left out of it.
   */
  of(
    target: Ref,
    options?: { readonly extractor?: string; readonly after?: After; readonly limit?: number },
  ): Promise<Page<MetadataRecord & Stored>>
}
export const MetadataDocuments = port<MetadataDocuments>('metadataDocuments')

/** What people say about resources. */
export interface Comments {
  /** `to`: the comment that this one answers. `NotFound` when that is gone. */
  add(target: Ref, text: string, author: string | undefined, to?: CommentRecord & Stored): Promise<CommentRecord & Stored>
  get(id: string): Promise<(CommentRecord & Stored) | undefined>
  /** Another text. `NotFound` for one that does not exist. */
  edit(id: string, text: string, actor: string | undefined): Promise<void>
  /** Oldest first. */
  of(target: Ref, page: { readonly after?: After; readonly limit: number }): Promise<Page<CommentRecord & Stored>>
}
export const Comments = port<Comments>('comments')

/** Tags of resources of any kind that can carry them. */
export interface Tags {
  /** Trims, drops repeats; the tags that are new. */
  add(target: Ref, names: readonly string[], by: { readonly user?: string; readonly extractor?: string }): Promise<readonly Tag[]>
}
export const Tags = port<Tags>('tags')

/** Previews and thumbnails. */
export interface Previews {
  /** Stores a derived file and attaches it. `id` makes a repeat harmless. */
  addPreview(
    target: Ref,
    file: DerivedFile & { readonly id?: string },
    by: { readonly extractor: string; readonly author?: string },
  ): Promise<string>
  /** Likewise; becomes the thumbnail of the file, and of its datasets and their collections where they have none. */
  addThumbnail(
    target: Ref,
    file: DerivedFile & { readonly id?: string },
    by: { readonly extractor: string; readonly author?: string },
  ): Promise<string>
  of(target: Ref): Promise<readonly (PreviewRecord & Stored)[]>
}
export const Previews = port<Previews>('previews')
