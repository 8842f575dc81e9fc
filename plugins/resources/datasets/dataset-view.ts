import { type Caller, Collections, type ContentCount, ContentCounts, type Contributions, Policy, Spaces, s, Users, wire } from 'pounce/sdk'
import {
  containersFor,
  contentsOf,
  FullLicense,
  FullStatistics,
  FullTags,
  fullLicense,
  fullMembers,
  fullStatistics,
  fullTags,
  fullViewOf,
  NamedContainer,
} from 'pounce/sdk/kit'
import type { Dataset } from './collection.ts'
import { DatasetItem, toDatasetItem } from './dataset-lists.ts'

/** A dataset with all related data. */
const FullDataset = s.model(
  'FullDataset',
  s.Object({
    ...fullMembers,
    modified: s.String({ description: 'ISO 8601, UTC' }),
    access: s.Union([s.Literal('PUBLIC'), s.Literal('PRIVATE'), s.Literal('DEFAULT'), s.Literal('TRIAL')]),
    isPublic: s.Boolean({ description: 'PUBLIC, or DEFAULT in a public space' }),
    spaces: s.Array(NamedContainer, { description: 'Those that the caller may view' }),
    collections: s.Array(NamedContainer, { description: 'Those that the caller may view' }),
    creators: s.Array(s.String()),
    license: FullLicense,
    tags: FullTags,
    thumbnail: s.Union([s.String(), s.Null()]),
    statistics: FullStatistics,
    counts: s.Object(
      { files: s.Integer(), folders: s.Integer() },
      { description: 'All in the dataset, also below its folders. Beyond 10,000 as they were at most a minute ago' },
    ),
    trashedAt: s.Union([s.String(), s.Null()], { description: 'Since when it is in the trash' }),
    resource_type: s.Literal('dataset'),
  }),
)
type FullDataset = s.Static<typeof FullDataset>

/** A dataset in v1's format, or with `view=full`. */
export const DatasetView = s.Union([DatasetItem, FullDataset])
export type DatasetView = s.Static<typeof DatasetView>

/** Renders datasets with related resources that the caller may view. */
export class DatasetViews {
  readonly #users: Users
  readonly #policy: Policy
  readonly #spaces: Spaces
  readonly #collections: Collections
  readonly #counts: Contributions<ContentCount>

  constructor(users: Users, policy: Policy, spaces: Spaces, collections: Collections, counts: Contributions<ContentCount>) {
    this.#users = users
    this.#policy = policy
    this.#spaces = spaces
    this.#collections = collections
    this.#counts = counts
  }

  /** A renderer for lists of datasets. */
  showing(caller: Caller, view: 'full' | undefined): (some: readonly Dataset[]) => Promise<readonly DatasetView[]> {
    return async some => (view === 'full' ? this.full(caller, some) : some.map(toDatasetItem))
  }

  async full(caller: Caller, some: readonly Dataset[]): Promise<readonly FullDataset[]> {
    const [common, spaces, collections, counts] = await Promise.all([
      fullViewOf({ users: this.#users, policy: this.#policy }, caller, 'dataset', some),
      containersFor(
        this.#policy,
        caller,
        'space',
        this.#spaces,
        some.flatMap(each => each.spaces),
      ),
      containersFor(
        this.#policy,
        caller,
        'collection',
        this.#collections,
        some.flatMap(each => each.collections),
      ),
      contentsOf(
        this.#counts,
        'dataset',
        some.map(({ id }) => id),
        ['file', 'folder'],
      ),
    ])
    return some.map(dataset => {
      const { modified, access, isPublic, creators, thumbnail, statistics, trashedAt } = dataset
      const { file = 0, folder = 0 } = counts.get(dataset.id) ?? {}
      return {
        ...common(dataset),
        ...{ modified, access, isPublic, spaces: spaces(dataset.spaces), collections: collections(dataset.collections) },
        ...{ creators: [...creators], license: fullLicense(dataset.license), tags: fullTags(dataset.tags), thumbnail },
        ...{ statistics: fullStatistics(statistics), counts: { files: file, folders: folder }, trashedAt },
        resource_type: 'dataset',
      }
    })
  }
}
wire(DatasetViews, Users, Policy, Spaces, Collections, ContentCounts)
