import { type Caller, type ContentCount, ContentCounts, type Contributions, countIn, type s, Users, wire } from 'pounce/sdk'
import type { Collected } from './collection.ts'
import { type SingleCollection, toSingleCollection } from './collection-json.ts'
import { CollectionLists } from './collection-lists.ts'

/** Shows collections by themselves, with what is around them as far as the caller may see it. */
export class CollectionViews {
  #users: Users
  #lists: CollectionLists
  #counts: Contributions<ContentCount>

  constructor(users: Users, lists: CollectionLists, counts: Contributions<ContentCount>) {
    this.#users = users
    this.#lists = lists
    this.#counts = counts
  }

  async single(caller: Caller, one: Collected): Promise<s.Static<typeof SingleCollection>> {
    const [view] = await this.singles(caller, [one])
    return view as s.Static<typeof SingleCollection>
  }

  async singles(caller: Caller, some: readonly Collected[]): Promise<s.Static<typeof SingleCollection>[]> {
    const authors = await this.#users.getMany([...new Set(some.map(one => one.author))])
    const views: s.Static<typeof SingleCollection>[] = []
    for (const one of some) {
      const children = await this.#lists.childrenOf(caller, one.id, { limit: 0 })
      const parents = await this.#lists.visible(caller, one.parents)
      views.push(
        toSingleCollection(one, {
          author: authors.get(one.author),
          avatar: this.#users.avatarOf(authors.get(one.author)),
          children: children.items.map(child => child.id),
          parents: parents.map(parent => parent.id),
          childCount: children.next ? await countIn(this.#counts, 'collection', { kind: 'collection', id: one.id }) : children.items.length,
          datasetCount: await countIn(this.#counts, 'dataset', { kind: 'collection', id: one.id }),
        }),
      )
    }
    return views
  }
}
wire(CollectionViews, Users, CollectionLists, ContentCounts)
