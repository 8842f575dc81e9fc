import { type After, type Caller, Datasets, type FileRecord, Policy, type Stored, s, type UserRecord, Users, wire } from 'pounce/sdk'
import { fullNameOf, identityProviderOf, personContext } from 'pounce/sdk/kit'

/** A user with rights on a resource (reference, api-data §6b). */
export const MemberJson = s.model(
  'Member',
  s.Object({
    '@context': s.Record(s.String(), s.String()),
    id: s.String(),
    firstName: s.String(),
    lastName: s.String(),
    fullName: s.String(),
    email: s.Union([s.String(), s.Null()], { description: 'Null for callers who may not view the account' }),
    avatar: s.String(),
    identityProvider: s.String(),
  }),
)
type MemberJson = s.Static<typeof MemberJson>

const pageSize = 200

/** Lists the members of the spaces of files and datasets. */
export class FileSpaceMembers {
  #users: Users
  #datasets: Datasets
  #policy: Policy

  constructor(users: Users, datasets: Datasets, policy: Policy) {
    this.#users = users
    this.#datasets = datasets
    this.#policy = policy
  }

  /** Members of the spaces of the datasets that contain a file, each once. */
  async *ofFile(caller: Caller, { places }: FileRecord): AsyncIterable<MemberJson> {
    yield* this.ofDatasets(caller, [...new Set(places.map(place => place.dataset))].slice(0, 1000))
  }

  /** Members of the spaces of datasets, each once; only of spaces that the caller may view. */
  async *ofDatasets(caller: Caller, ids: readonly string[]): AsyncIterable<MemberJson> {
    const found = [...(await this.#datasets.getMany(ids)).values()].filter(({ state }) => state === 'live')
    const spaces = [...new Set(found.flatMap(dataset => dataset.spaces))]
    const seen = [...(await this.#policy.allowed(caller, 'ViewSpace', 'space', spaces))]
    for (const space of seen) {
      let after: After | undefined
      do {
        const page = await this.#users.peopleOf(space, { limit: pageSize, ...(after ? { after } : {}) })
        // A member of several of the spaces is returned with the first one, so that no list of returned members is needed.
        const firsts = await Promise.all(page.items.map(user => this.#firstOf(seen, user)))
        yield* await this.#shown(
          caller,
          page.items.filter((_, at) => firsts[at] === space),
        )
        after = page.next
      } while (after)
    }
  }

  async #firstOf(spaces: readonly string[], user: UserRecord): Promise<string | undefined> {
    const memberSpaces = new Set((await this.#users.membershipsOf(user)).map(({ space }) => space))
    return spaces.find(space => memberSpaces.has(space))
  }

  async #shown(caller: Caller, some: readonly (UserRecord & Stored)[]): Promise<readonly MemberJson[]> {
    const known = await this.#policy.allowed(
      caller,
      'ViewUser',
      'user',
      some.map(user => user.id),
    )
    return some.map(user => {
      const { id, firstName, lastName } = user
      const isKnown = known.has(id)
      const avatar = this.#users.avatarOf(isKnown ? user : undefined)
      const shown = { id, firstName, lastName, fullName: fullNameOf(user), email: isKnown ? user.email : null, avatar }
      return { '@context': personContext, ...shown, identityProvider: identityProviderOf(user, isKnown) }
    })
  }
}
wire(FileSpaceMembers, Users, Datasets, Policy)
