import { setImmediate } from 'node:timers/promises'
import { type Caller, Comments, type Kind, MetadataDocuments, type Permission, Policy, Sections, wire } from 'pounce/sdk'
import type { ResourceSummary } from 'pounce/sdk/kit'
import type { SearchQuery } from 'pounce/sdk/search'
import { pagesOf } from './indexer.ts'
import { isBesideRecord, type MatchCondition, matchConditions, type SearchedValue, searchedValue } from './match-conditions.ts'
import { fragmentsOf, type MatchedFragment, withinLimit } from './matched-fragments.ts'
import { metadataValues } from './metadata-values.ts'

/** A hit as it was read from the store. */
export interface Hit {
  readonly kind: Kind
  readonly id: string
  readonly summary: ResourceSummary
  readonly authorName: string
}

/** Limits for reading metadata, comments and sections: number of hits, and time. */
const maxReadHits = 50
const readMs = 500
const maxConcurrent = 8
/** Items in a page of annotations. Further pages are read while they may match a condition that nothing has matched. */
const readItems = 50
/** Number of characters of a description that are searched. */
const maxDescription = 20_000
const sliceMs = 8

/** Rights on a resource without which its annotations are not quoted. */
const annotationRights = { metadata: 'ViewMetadata', comments: 'ViewComments', sections: 'ViewSection' } as const satisfies Record<
  string,
  Permission
>
type Annotation = keyof typeof annotationRights
/** In the order in which matches are shown. */
const annotations: readonly Annotation[] = ['sections', 'comments', 'metadata']

interface UnmatchedHit {
  readonly hit: Hit
  readonly conditions: readonly MatchCondition[]
}

/** Finds the values of hits that match the query. */
export class HitMatches {
  #policy: Policy
  #metadata: MetadataDocuments
  #comments: Comments
  #sections: Sections

  constructor(policy: Policy, metadata: MetadataDocuments, comments: Comments, sections: Sections) {
    this.#policy = policy
    this.#metadata = metadata
    this.#comments = comments
    this.#sections = sections
  }

  /** In the order of the hits. Annotations of a resource are read only if its record does not match the whole query. */
  async of(hits: readonly Hit[], query: SearchQuery, caller: Caller): Promise<readonly (readonly MatchedFragment[])[]> {
    const conditions = matchConditions(query)
    if (conditions.length === 0) return hits.map(() => [])
    const found = new Map<Hit, readonly MatchedFragment[]>()
    const open: UnmatchedHit[] = []
    let end = performance.now() + sliceMs
    for (const hit of hits) {
      if (performance.now() > end) {
        await setImmediate()
        end = performance.now() + sliceMs
      }
      const { fragments, unexplained } = fragmentsOf(recordValues(hit), conditions)
      found.set(hit, fragments)
      const beside = unexplained.filter(isBesideRecord)
      if (beside.length > 0 && open.length < maxReadHits) open.push({ hit, conditions: beside })
    }
    await this.#explain(open, found, caller)
    return hits.map(hit => withinLimit(found.get(hit) ?? []))
  }

  async #explain(open: readonly UnmatchedHit[], found: Map<Hit, readonly MatchedFragment[]>, caller: Caller): Promise<void> {
    if (open.length === 0) return
    const rights = await this.#rightsOn(open, caller)
    const until = performance.now() + readMs
    const rest = open.values()
    const take = async (): Promise<void> => {
      for (const { hit, conditions } of rest) {
        if (performance.now() > until) return
        found.set(hit, [...(found.get(hit) ?? []), ...(await this.#annotationFragments(hit, conditions, rights, until))])
      }
    }
    await Promise.all(Array.from({ length: maxConcurrent }, take))
  }

  async #rightsOn(open: readonly UnmatchedHit[], caller: Caller): Promise<ReadonlyMap<Annotation, ReadonlySet<string>>> {
    const byKind = Map.groupBy(open, ({ hit }) => hit.kind)
    const allowed = async (annotation: Annotation): Promise<readonly [Annotation, ReadonlySet<string>]> => {
      const sets = await Promise.all(
        [...byKind].map(([kind, some]) =>
          this.#policy.allowed(
            caller,
            annotationRights[annotation],
            kind,
            some.map(({ hit }) => hit.id),
          ),
        ),
      )
      return [annotation, new Set(sets.flatMap(set => [...set]))]
    }
    return new Map(await Promise.all(annotations.map(allowed)))
  }

  async #annotationFragments(
    hit: Hit,
    conditions: readonly MatchCondition[],
    rights: ReadonlyMap<Annotation, ReadonlySet<string>>,
    until: number,
  ): Promise<readonly MatchedFragment[]> {
    const fragments: MatchedFragment[] = []
    const pages = this.#annotationPages(hit)
    let open = conditions
    let readable = annotations.filter(annotation => rights.get(annotation)?.has(hit.id) === true)
    do {
      readable = readable.filter(annotation => open.some(asksFor[annotation]))
      const read = await Promise.all(readable.map(annotation => pages[annotation].next()))
      readable = readable.filter((_, at) => !read[at]?.done)
      const found = fragmentsOf(
        read.flatMap(({ value }) => value ?? []),
        open,
      )
      fragments.push(...found.fragments)
      open = found.unexplained
    } while (readable.length > 0 && open.length > 0 && performance.now() < until)
    return fragments
  }

  #annotationPages({ kind, id }: Hit): Readonly<Record<Annotation, AsyncGenerator<readonly SearchedValue[], void>>> {
    const [sections, comments, documents] = [this.#sections, this.#comments, this.#metadata]
    const target = { kind, id }
    async function* sectionPages() {
      if (kind !== 'file') return
      for await (const some of pagesOf(page => sections.of(id, page), readItems))
        yield some.flatMap(({ tags }) => tags.map(({ name }) => searchedValue('tag', name)))
    }
    async function* commentPages() {
      for await (const some of pagesOf(page => comments.of(target, page), readItems))
        yield some.map(comment => searchedValue('comment', comment.text))
    }
    async function* metadataPages() {
      for await (const some of pagesOf(page => documents.of(target, page), readItems)) {
        const { values, text } = metadataValues(some)
        yield [
          ...values.map(({ field, value, written }) => searchedValue(`metadata.${field}`, value, written)),
          ...(text === '' ? [] : [searchedValue('text', text)]),
        ]
      }
    }
    return { sections: sectionPages(), comments: commentPages(), metadata: metadataPages() }
  }
}
wire(HitMatches, Policy, MetadataDocuments, Comments, Sections)

/** The kinds of annotations that a condition can match. */
const asksFor: Readonly<Record<Annotation, (condition: MatchCondition) => boolean>> = {
  sections: ({ field }) => field === undefined || field === 'tag',
  comments: ({ field }) => field === undefined || field === 'comment',
  metadata: ({ field }) => field !== 'tag' && field !== 'comment',
}

const recordValues = ({ authorName, summary }: Hit): readonly SearchedValue[] => {
  const { name, description, tags, createdAs = '', contentType = '', values = [] } = summary
  return [
    searchedValue('name', name),
    ...tags.map(tag => searchedValue('tag', tag)),
    searchedValue('description', description.slice(0, maxDescription)),
    ...(createdAs === name ? [] : [searchedValue('created_as', createdAs)]),
    searchedValue('creator', authorName),
    searchedValue('content_type', contentType),
    ...values.map(({ field, value, written }) => searchedValue(`metadata.${field}`, value, written)),
  ]
}
