import { type Collection, collection } from '../ports/document-store.ts'

/** A test document; every field may be absent. */
export interface Note {
  readonly name?: string
  readonly state?: string
  readonly created?: string | null
  readonly rank?: number | null
  readonly isPublic?: boolean
  readonly author?: string
  readonly spaces?: readonly string[]
  readonly places?: readonly { readonly dataset: string; readonly folder?: string }[]
  readonly email?: string | null
  readonly team?: { readonly name: string; readonly seat: number }
  readonly content?: unknown
}

/** The collection used by contract tests of document stores. */
export const notes: Collection<Note> = collection<Note>()('notes', {
  byName: { on: ['name'] },
  byNamePiece: { on: ['state', 'name~', 'created'], array: 'name~' },
  byRank: { on: ['rank'] },
  byTeam: { on: ['team'] },
  byCreated: { on: ['state', 'created'] },
  bySpace: { on: ['state', 'spaces', 'created'], array: 'spaces' },
  bySpaceOnly: { on: ['state', 'spaces', 'created'], array: 'spaces', sparse: 'spaces' },
  byAuthor: { on: ['state', 'author', 'created'] },
  byCreatedOnly: { on: ['state', 'created'], sparse: 'created' },
  byPublic: { on: ['state', 'isPublic', 'created'] },
  byPlace: { on: ['places.dataset', 'created'], array: 'places.dataset' },
  byEmail: { on: ['email'], unique: true },
  bySeat: { on: ['team.name', 'team.seat'], unique: true },
})
