import {
  Clock,
  Collections,
  CommitConflict,
  Datasets,
  eq,
  event,
  Files,
  Ids,
  Invalid,
  type Kind,
  NotFound,
  type Ref,
  Sections,
  type Stored,
  type Tag,
  type Tags,
  wire,
} from 'pounce/sdk'
import type { Records } from 'pounce/sdk/kit'

/** A record with tags. A section has the id of its file in place of a name. */
interface Tagged {
  readonly name?: string
  readonly file?: string
  readonly tags: readonly Tag[]
}

const maxTags = 1000
const maxTries = 100

/**
 * A tag as Clowder 1.x stores it: trimmed, inner white space collapsed, cut at 100 characters (`clowder.tagLength`). An extractor's tags
 * may contain any character. A stored name is not changed by this, so that the tag can be removed by it.
 */
const tidy = (name: string): string => {
  const line = name
    .replace(/\s/gu, ' ')
    .replace(/\p{Cc}/gu, '')
    .replace(/ +/g, ' ')
    .trim()
    .normalize('NFC')
  return [...line].slice(0, 100).join('').trimEnd()
}

/** Empty tags of extractors are dropped, as in Clowder 1.x: one that found nothing for one of several must not lose the others. */
export const withoutEmpty = (names: readonly string[]): readonly string[] => names.filter(name => tidy(name) !== '')

/** Tags are stored in the record of their resource, so that each change is one atomic commit. */
export class StoredTags implements Tags {
  #recordsByKind: Partial<Record<Kind, Records<Tagged>>>
  #ids: Ids
  #clock: Clock

  constructor(files: Files, datasets: Datasets, collections: Collections, sections: Sections, ids: Ids, clock: Clock) {
    this.#recordsByKind = { file: files, dataset: datasets, collection: collections, section: sections } as Partial<
      Record<Kind, Records<Tagged>>
    >
    this.#ids = ids
    this.#clock = clock
  }

  async of(target: Ref): Promise<Tagged & Stored> {
    const record = await this.#recordsOf(target).get(target.id)
    if (!record) throw new NotFound(target.kind)
    return record
  }

  async add(target: Ref, names: readonly string[], by: { readonly user?: string; readonly extractor?: string }): Promise<readonly Tag[]> {
    const wanted = [...new Set((by.extractor === undefined ? names : withoutEmpty(names)).map(tidy))]
    if (wanted.includes('')) throw new Invalid('A tag must have 1 to 100 characters and not be blank')
    const user = by.user ?? null
    const extractor = by.extractor ?? null
    let fresh: readonly Tag[] = []
    await this.#alter(target, tags => {
      const isKnown = (name: string): boolean => tags.some(tag => tag.name === name && tag.user === user && tag.extractor === extractor)
      const created = this.#clock.now().toISOString()
      fresh = wanted.filter(name => !isKnown(name)).map(name => ({ id: this.#ids.next(), name, user, extractor, created }))
      if (tags.length + fresh.length > maxTags) throw new Invalid(`A ${target.kind} can have at most ${maxTags} tags`)
      const tagEvent = event('tags.added', target, { tags: fresh.map(tag => tag.name) }, by.user)
      return { tags: [...tags, ...fresh], events: fresh.length > 0 ? [tagEvent] : [] }
    })
    return fresh
  }

  /** Removes tags by name; with `addedSince` only those that the actor added from then on. Earlier versions stored some names with a blank at the end. */
  removeNamed(target: Ref, names: readonly string[], actor: string | undefined, addedSince?: string): Promise<void> {
    const removed = new Set(names.map(tidy))
    const isRecent = ({ user, created }: Tag): boolean => addedSince === undefined || (user === actor && created >= addedSince)
    return this.remove(target, tag => removed.has(tidy(tag.name)) && isRecent(tag), actor)
  }

  /** Removes tags by id, as clients of Clowder 1.x do for sections, or by name. */
  removeNamedOrWithId(target: Ref, ids: readonly string[], actor: string | undefined): Promise<void> {
    const removed = new Set([...ids, ...ids.map(tidy)])
    return this.remove(target, tag => removed.has(tag.id) || removed.has(tidy(tag.name)), actor)
  }

  /** Removes the matching tags, regardless of who added them. */
  async remove(target: Ref, fits: (tag: Tag) => boolean, actor: string | undefined): Promise<void> {
    await this.#alter(target, tags => {
      const removed = tags.filter(fits)
      const tagEvent = event('tags.removed', target, { tags: removed.map(tag => tag.name) }, actor)
      return { tags: tags.filter(tag => !fits(tag)), events: removed.length > 0 ? [tagEvent] : [] }
    })
  }

  #recordsOf({ kind }: Ref): Records<Tagged> {
    const records = this.#recordsByKind[kind]
    if (!records) throw new Invalid(`A ${kind} cannot have tags; files, datasets, collections and sections can`)
    return records
  }

  /** Reads, decides and writes, and repeats after a concurrent change. */
  async #alter(
    target: Ref,
    decide: (tags: readonly Tag[]) => { tags: readonly Tag[]; events: readonly ReturnType<typeof event>[] },
  ): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const record = await this.of(target)
      const { tags, events } = decide(record.tags)
      if (events.length === 0) return
      try {
        await this.#recordsOf(target).change(target.id, { where: eq('revision', record.revision), set: { tags } }, events)
        return
      } catch (error) {
        if (!(error instanceof CommitConflict) || tries === maxTries) throw error
      }
    }
  }
}
wire(StoredTags, Files, Datasets, Collections, Sections, Ids, Clock)
