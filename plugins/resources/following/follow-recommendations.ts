import {
  type Caller,
  Collections,
  Datasets,
  Files,
  fullNameOf,
  type Permission,
  Policy,
  type Recommendation,
  type Recommender,
  type Ref,
  Spaces,
  Users,
  wire,
} from 'pounce/sdk'

/** As many as Clowder 1.x gives. */
const most = 10
/** So many who follow the thing are asked, about what each of them began to follow last. */
const followers = 100
const ofEach = 200
/** So many of the most followed are looked at: some may be gone, or not for the caller. */
const candidates = 200

type ObjectType = Recommendation['objectType']
interface Source {
  readonly permission: Permission
  names(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}

const namesIn = async <T>(
  records: { getMany(ids: readonly string[]): Promise<ReadonlyMap<string, T>> },
  ids: readonly string[],
  nameOf: (record: T) => string | undefined,
): Promise<ReadonlyMap<string, string>> => {
  const found = await records.getMany(ids)
  return new Map([...found].flatMap(([id, record]) => (nameOf(record) === undefined ? [] : [[id, nameOf(record) ?? ''] as const])))
}

const liveName = ({ name, state }: { readonly name: string; readonly state: string }) => (state === 'live' ? name : undefined)

/** Recommends what others who follow a thing follow most. The work is bounded: a sample of them is asked, not all accounts. */
export class FollowRecommendations implements Recommender {
  #users: Users
  #policy: Policy
  #sources: Readonly<Record<ObjectType, Source>>

  constructor(users: Users, policy: Policy, spaces: Spaces, collections: Collections, datasets: Datasets, files: Files) {
    this.#users = users
    this.#policy = policy
    this.#sources = {
      space: { permission: 'ViewSpace', names: ids => namesIn(spaces, ids, liveName) },
      collection: { permission: 'ViewCollection', names: ids => namesIn(collections, ids, liveName) },
      dataset: { permission: 'ViewDataset', names: ids => namesIn(datasets, ids, liveName) },
      file: { permission: 'ViewFile', names: ids => namesIn(files, ids, file => file.name) },
      user: { permission: 'ViewUser', names: ids => namesIn(users, ids, fullNameOf) },
    }
  }

  async recommend(caller: Caller, target: Ref): Promise<readonly Recommendation[]> {
    const ranked = await this.#ranked(caller, target)
    const named = new Map<string, string>()
    for (const [kind, some] of Map.groupBy(ranked, ref => ref.kind)) {
      for (const [id, name] of await this.#named(caller, kind, some)) named.set(id, name)
    }
    const shown = ranked.flatMap(({ kind, id }) => {
      const name = named.get(id)
      return name === undefined ? [] : [{ id, name, objectType: kind }]
    })
    return shown.slice(0, most)
  }

  /** What the sampled followers follow, the most followed first. */
  async #ranked(caller: Caller, target: Ref): Promise<readonly { readonly kind: ObjectType; readonly id: string }[]> {
    const me = caller.user?.id
    const others = await this.#users.followersOf(target.id, followers)
    const own = me === undefined ? undefined : await this.#users.get(me)
    const known = new Set([target.id, ...(me === undefined ? [] : [me]), ...(own?.followed ?? []).map(({ id }) => id)])
    const counted = new Map<string, { readonly kind: ObjectType; readonly id: string; count: number }>()
    for (const { id: follower, followed } of others) {
      if (follower === me) continue
      for (const { kind, id } of followed.slice(-ofEach)) {
        if (known.has(id) || !isType(kind)) continue
        const so = counted.get(id) ?? { kind, id, count: 0 }
        so.count += 1
        counted.set(id, so)
      }
    }
    return [...counted.values()].sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1)).slice(0, candidates)
  }

  async #named(caller: Caller, kind: ObjectType, some: readonly Ref[]): Promise<ReadonlyMap<string, string>> {
    const { permission, names } = this.#sources[kind]
    const allowed = await this.#policy.allowed(
      caller,
      permission,
      kind,
      some.map(({ id }) => id),
    )
    return allowed.size === 0 ? new Map() : names([...allowed])
  }
}
wire(FollowRecommendations, Users, Policy, Spaces, Collections, Datasets, Files)

const types: readonly string[] = ['file', 'dataset', 'collection', 'space', 'user']
const isType = (kind: string): kind is ObjectType => types.includes(kind)
