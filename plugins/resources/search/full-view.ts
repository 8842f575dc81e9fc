import { type Caller, type Kind, Policy, s, Users, wire } from 'pounce/sdk'
import { peopleFor, type ResourceSummary } from 'pounce/sdk/kit'
import type { SearchQuery } from 'pounce/sdk/search'
import { HitMatches } from './hit-matches.ts'
import { PlacePaths } from './place-paths.ts'

/** A hit of the full view. */
export const SearchHit = s.model(
  'SearchHit',
  s.Object({
    kind: s.String({ description: '`file`, `dataset`, `collection`, `sensor`, `stream`, or a kind of a plugin' }),
    id: s.String(),
    name: s.String(),
    description: s.String({ description: 'At most the first 300 characters' }),
    author: s.Object({ id: s.String(), name: s.String() }),
    created: s.String({ format: 'date-time' }),
    place: s.Array(s.Object({ kind: s.String(), id: s.String(), name: s.String() }), {
      description:
        'Its location, outermost container first: a space or collection, dataset and folders. With several locations, the first one that the caller may view; empty if there is none',
    }),
    type: s.Optional(s.String({ description: 'Media type of a file' })),
    size: s.Optional(s.Integer({ description: 'Size of a file in bytes' })),
    thumbnail: s.Optional(s.String({ description: 'Id of the thumbnail' })),
    tags: s.Array(s.String(), { description: 'At most 50' }),
    matched: s.Array(
      s.Object({
        field: s.String({
          description: 'The field name as used in queries: `name`, `tag`, `comment`, `metadata.depth`; `text` is long text of metadata',
        }),
        text: s.String({ description: 'Plain text, not HTML' }),
        marks: s.Array(s.Object({ start: s.Integer(), end: s.Integer() }), {
          description: 'The parts of `text` that match, as offsets in UTF-16 code units',
        }),
      }),
      { description: 'Up to five values that match the query. Metadata, comments and sections only if the caller may view them' },
    ),
  }),
)
export type SearchHit = s.Static<typeof SearchHit>

/** A hit that was read and that the caller may view; `id` is that in the store. */
export interface ReadHit {
  readonly kind: Kind
  readonly id: string
  readonly summary: ResourceSummary
}

const maxDescription = 300
const maxTags = 50

/** Renders a page of hits with their locations and matches: names and locations of the whole page are read together. */
export class FullView {
  #policy: Policy
  #users: Users
  #places: PlacePaths
  #matches: HitMatches

  constructor(policy: Policy, users: Users, places: PlacePaths, matches: HitMatches) {
    this.#policy = policy
    this.#users = users
    this.#places = places
    this.#matches = matches
  }

  async show(hits: readonly ReadHit[], query: SearchQuery, caller: Caller): Promise<readonly SearchHit[]> {
    const [personOf, places] = await Promise.all([
      peopleFor(
        this.#users,
        this.#policy,
        caller,
        hits.map(({ summary }) => summary.author),
      ),
      this.#places.of(
        hits.map(({ summary }) => summary.containers),
        caller,
      ),
    ])
    const named = hits.map(hit => ({ ...hit, authorName: personOf(hit.summary.author).fullName }))
    const matched = await this.#matches.of(named, query, caller)
    return named.map(({ kind, summary, authorName }, at) => ({
      ...{ kind, id: summary.id, name: summary.name },
      description: beginningOf(summary.description),
      author: { id: summary.author, name: authorName },
      created: summary.created,
      place: [...(places[at] ?? [])],
      ...(summary.contentType === undefined ? {} : { type: summary.contentType }),
      ...(summary.sizeBytes === undefined ? {} : { size: summary.sizeBytes }),
      ...(summary.thumbnail === undefined ? {} : { thumbnail: summary.thumbnail }),
      tags: summary.tags.slice(0, maxTags),
      matched: (matched[at] ?? []).map(({ field, text, marks }) => ({ field, text, marks: [...marks] })),
    }))
  }
}
wire(FullView, Policy, Users, PlacePaths, HitMatches)

const beginningOf = (text: string): string =>
  text.length <= maxDescription ? text : `${text.slice(0, maxDescription - 1).toWellFormed()}…`
