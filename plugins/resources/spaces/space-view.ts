import {
  type Caller,
  type ContentCount,
  ContentCounts,
  type Contributions,
  Policy,
  type SpaceRecord,
  type Stored,
  s,
  Users,
  wire,
} from 'pounce/sdk'
import { contentsOf, fullMembers, fullViewOf } from 'pounce/sdk/kit'

type Space = SpaceRecord & Stored

const hourMs = 3_600_000

/** Members are counted up to this number. */
const maxMembers = 1000

/** A space with all related data. */
const FullSpace = s.model(
  'FullSpace',
  s.Object({
    ...fullMembers,
    modified: s.String({ description: 'ISO 8601, UTC' }),
    access: s.Union([s.Literal('PUBLIC'), s.Literal('PRIVATE'), s.Literal('TRIAL')]),
    isPublic: s.Boolean(),
    homePage: s.Array(s.String()),
    logoUrl: s.Union([s.String(), s.Null()]),
    bannerUrl: s.Union([s.String(), s.Null()]),
    timeToLive: s.Object({ isEnabled: s.Boolean(), hours: s.Number() }),
    counts: s.Object(
      { datasets: s.Integer(), collections: s.Integer(), members: s.Integer() },
      { description: 'Datasets and collections beyond 10,000 as they were at most a minute ago; members up to 1,000' },
    ),
    roles: s.Array(s.String(), { description: 'Names of the roles of the caller in it' }),
    requested: s.Boolean({ description: 'Whether the caller has an open join request' }),
    requests: s.Optional(s.Integer({ description: 'Number of open join requests; for callers with EditSpace' })),
    resource_type: s.Literal('space'),
  }),
)
type FullSpace = s.Static<typeof FullSpace>

/** A space in v1's only format. */
const SpaceItem = s.model('Space', s.Object({ id: s.String(), name: s.String(), description: s.String(), created: s.v1Date() }))

const toSpaceItem = (space: Space): s.Static<typeof SpaceItem> => ({
  id: space.id,
  name: space.name,
  description: space.description,
  created: s.toV1Date(space.created),
})

/** A space in v1's format, or with `view=full`. */
export const SpaceView = s.Union([SpaceItem, FullSpace])
export type SpaceView = s.Static<typeof SpaceView>

/** Renders spaces with related data. */
export class SpaceViews {
  readonly #users: Users
  readonly #policy: Policy
  readonly #counts: Contributions<ContentCount>

  constructor(users: Users, policy: Policy, counts: Contributions<ContentCount>) {
    this.#users = users
    this.#policy = policy
    this.#counts = counts
  }

  /** A renderer for lists of spaces. */
  showing(caller: Caller, view: 'full' | undefined): (some: readonly Space[]) => Promise<readonly SpaceView[]> {
    return async some => (view === 'full' ? this.full(caller, some) : some.map(toSpaceItem))
  }

  async full(caller: Caller, some: readonly Space[]): Promise<readonly FullSpace[]> {
    const ids = some.map(({ id }) => id)
    const [common, counts, members] = await Promise.all([
      fullViewOf({ users: this.#users, policy: this.#policy }, caller, 'space', some),
      contentsOf(this.#counts, 'space', ids, ['dataset', 'collection']),
      Promise.all(ids.map(id => this.#users.countPeople(id, maxMembers))),
    ])
    return some.map((space, at) => {
      const { id, created, modified = created, access, isPublic, homePage, logoUrl, bannerUrl, requests } = space
      const shown = common(space)
      const { dataset = 0, collection = 0 } = counts.get(id) ?? {}
      const memberships = caller.user?.memberships.filter(membership => membership.space === id) ?? []
      return {
        ...shown,
        ...{ modified, access, isPublic, homePage: [...homePage], logoUrl, bannerUrl },
        timeToLive: { isEnabled: space.isTimeToLiveEnabled, hours: space.timeToLiveMs / hourMs },
        counts: { datasets: dataset, collections: collection, members: members[at] ?? 0 },
        roles: [...new Set(memberships.flatMap(({ roleName }) => roleName ?? []))],
        requested: requests.some(({ user }) => user === caller.user?.id),
        ...(shown.rights.includes('EditSpace') ? { requests: requests.length } : {}),
        resource_type: 'space',
      }
    })
  }
}
wire(SpaceViews, Users, Policy, ContentCounts)
