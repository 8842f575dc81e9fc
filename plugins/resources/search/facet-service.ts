import { type Caller, Policy, SearchIndex, Spaces, s, Users, wire } from 'pounce/sdk'
import { peopleFor } from 'pounce/sdk/kit'
import type { FacetCounts, FacetName, FacetRequest } from 'pounce/sdk/search'
import { annotatedPart, withinRights } from './annotated-part.ts'

/** Facets by the name used in the parameter. */
const facets = {
  type: 'type',
  media_type: 'mediaType',
  tag: 'tag',
  space: 'space',
  creator: 'creator',
  year: 'year',
} as const satisfies Readonly<Record<string, FacetName>>

/** The name of a facet in the parameter. */
export type FacetParameter = keyof typeof facets

export const isFacet = (text: string): text is FacetParameter => Object.hasOwn(facets, text)
export const facetParameters = Object.keys(facets) as readonly FacetParameter[]

const values = () => s.Optional(s.Array(s.Object({ value: s.String(), count: s.Integer() })))
const NamedValue = s.model('NamedFacetValue', s.Object({ value: s.String({ description: 'Id' }), name: s.String(), count: s.Integer() }))
const named = () => s.Optional(s.Array(NamedValue))

/** Number of hits per value. */
export const ShownFacets = s.model(
  'SearchFacets',
  s.Object({
    exact: s.Boolean({ description: 'False if there are more than 10,000 hits: the counts are those of 10,000 of them' }),
    type: values(),
    media_type: values(),
    tag: values(),
    space: named(),
    creator: named(),
    year: values(),
  }),
)
export type ShownFacets = s.Static<typeof ShownFacets>

const shownValues = 20
/** Documents refer to further principals and spaces in their rights, and to spaces that the caller may not view. */
const countedValues = 1000

type Values = NonNullable<FacetCounts['counts'][FacetName]>

/** Counts hits by their properties, and adds the names of spaces and users. */
export class FacetService {
  #index: SearchIndex
  #policy: Policy
  #spaces: Spaces
  #users: Users

  constructor(index: SearchIndex, policy: Policy, spaces: Spaces, users: Users) {
    this.#index = index
    this.#policy = policy
    this.#spaces = spaces
    this.#users = users
  }

  /** Counted by the index, within the resources that the caller may view. */
  async count(search: Pick<FacetRequest, 'query' | 'kinds'>, facetNames: readonly FacetParameter[], caller: Caller): Promise<ShownFacets> {
    const scope = this.#policy.searchScope(caller)
    const withSections = annotatedPart(scope, 'sections')
    const query = withinRights(search.query, scope)
    const request = { ...search, query, scope, facets: facetNames.map(facet => facets[facet]), limit: countedValues }
    const [{ counts: all, isExact }, tags] = await Promise.all([
      this.#index.facets(request),
      // Tags include those of sections.
      withSections !== scope && facetNames.includes('tag')
        ? this.#index.facets({ ...request, scope: withSections, facets: ['tag'] })
        : undefined,
    ])
    const counts = { ...all, ...tags?.counts }
    const first = (facet: FacetName) => counts[facet]?.slice(0, shownValues)
    const [spaces, creators] = await Promise.all([
      counts.space && this.#namedSpaces(counts.space, caller),
      counts.creator && this.#namedPeople(counts.creator.slice(0, shownValues), caller),
    ])
    const [type, mediaType, tag, year] = [first('type'), first('mediaType'), first('tag'), first('year')]
    return {
      exact: isExact,
      ...(type ? { type } : {}),
      ...(mediaType ? { media_type: mediaType } : {}),
      ...(tag ? { tag } : {}),
      ...(spaces ? { space: spaces } : {}),
      ...(creators ? { creator: creators } : {}),
      ...(year ? { year } : {}),
    }
  }

  /** Only spaces that the caller may view. */
  async #namedSpaces(found: Values, caller: Caller) {
    const ids = found.map(({ value }) => value)
    const seen = await this.#policy.seen(caller, 'space', ids, 'frozen')
    const spaces = await this.#spaces.getMany(ids.filter(id => seen.has(id)))
    return found
      .flatMap(({ value, count }) => {
        const space = spaces.get(value)
        return space ? [{ value, name: space.name, count }] : []
      })
      .slice(0, shownValues)
  }

  async #namedPeople(found: Values, caller: Caller) {
    const personOf = await peopleFor(
      this.#users,
      this.#policy,
      caller,
      found.map(({ value }) => value),
    )
    return found.map(({ value, count }) => ({ value, name: personOf(value).fullName, count }))
  }
}
wire(FacetService, SearchIndex, Policy, Spaces, Users)
