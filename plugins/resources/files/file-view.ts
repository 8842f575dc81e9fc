import { type Caller, Datasets, type FileRecord, Files, Policy, type Stored, s, Users, wire } from 'pounce/sdk'
import {
  allowsDownload,
  FullLicense,
  FullStatistics,
  FullTags,
  fullLicense,
  fullMembers,
  fullNameOf,
  fullStatistics,
  fullTags,
  fullViewOf,
  isUsable,
  NamedContainer,
} from 'pounce/sdk/kit'
import { FileDownloads } from './file-downloads.ts'
import { FileListing } from './file-listing.ts'

/** A file with all related data. */
export const FullFile = s.model(
  'FullFile',
  s.Object({
    ...fullMembers,
    originalName: s.String({ description: 'The name it was uploaded under' }),
    contentType: s.String(),
    sizeBytes: s.Integer(),
    sha256: s.String(),
    status: s.Union([s.Literal('CREATED'), s.Literal('UPLOADED'), s.Literal('PROCESSED'), s.Literal('ARCHIVED'), s.Literal('UNKNOWN')]),
    places: s.Array(
      s.Object({
        dataset: NamedContainer,
        folder: s.Union([s.String(), s.Null()], { description: 'Id; null in the root of the dataset' }),
        path: s.Array(s.String(), { description: 'Names of the folders, from the top' }),
      }),
      { description: 'The locations in datasets that the caller may view' },
    ),
    license: FullLicense,
    mayDownload: s.Boolean({ description: 'Whether a right or the license allows it; false while the bytes may not be downloaded' }),
    tags: FullTags,
    thumbnail: s.Union([s.String(), s.Null()]),
    statistics: FullStatistics,
    showPreviews: s.String(),
    scan: s.Optional(s.String({ description: 'Result of the malware scan, as in `GET /api/files/:id/metadata`' })),
    damaged: s.Optional(s.String({ description: 'Time when the stored bytes were found to be damaged' })),
    resource_type: s.Literal('file'),
  }),
)
export type FullFile = s.Static<typeof FullFile>

/** A file among those with its name in a folder. */
export const FileVersion = s.model(
  'FileVersion',
  s.Object({
    id: s.String(),
    created: s.String({ description: 'ISO 8601, UTC' }),
    author: s.Object({ id: s.String(), fullName: s.String() }),
    sizeBytes: s.Integer(),
    sha256: s.String(),
  }),
)
type FileVersion = s.Static<typeof FileVersion>

/** A bound for files that are uploaded under one name again and again. */
const maxVersions = 100

/** Renders files with related resources that the caller may view. */
export class FileViews {
  readonly #users: Users
  readonly #policy: Policy
  readonly #datasets: Datasets
  readonly #files: Files
  readonly #listing: FileListing
  readonly #downloads: FileDownloads

  constructor(users: Users, policy: Policy, datasets: Datasets, files: Files, listing: FileListing, downloads: FileDownloads) {
    this.#users = users
    this.#policy = policy
    this.#datasets = datasets
    this.#files = files
    this.#listing = listing
    this.#downloads = downloads
  }

  async full(caller: Caller, file: FileRecord & Stored): Promise<FullFile> {
    const [common, places, damaged] = await Promise.all([
      fullViewOf({ users: this.#users, policy: this.#policy }, caller, 'file', [file]),
      this.#listing.pathsOf(file, caller),
      this.#downloads.damagedSince(file),
    ])
    const datasets = await this.#datasets.getMany([...new Set(places.map(({ dataset }) => dataset))])
    const shown = common(file)
    const { originalName, contentType, sizeBytes, sha256, status, license, thumbnail, showPreviews, scan } = file
    return {
      ...shown,
      ...{ originalName, contentType, sizeBytes, sha256, status },
      places: places.map(({ dataset, folder, folders }) => ({
        ...{ dataset: { id: dataset, name: datasets.get(dataset)?.name ?? '' }, folder, path: [...folders] },
      })),
      license: fullLicense(license),
      mayDownload: isUsable(file) && (shown.rights.includes('DownloadFiles') || allowsDownload(license)),
      ...{ tags: fullTags(file.tags), thumbnail, statistics: fullStatistics(file.statistics), showPreviews },
      ...(scan === undefined ? {} : { scan: scan.state }),
      ...(damaged === undefined ? {} : { damaged }),
      resource_type: 'file',
    }
  }

  /** Files with the same name in the same folders, including this one, that the caller may view; newest first, at most a hundred. */
  async versions(caller: Caller, { name, places }: FileRecord): Promise<FileVersion[]> {
    const found = await Promise.all(places.slice(0, 10).map(place => this.#files.named(place.in, name, maxVersions)))
    const all = [...new Map(found.flat().map(file => [file.id, file])).values()]
    const ids = all.map(({ id }) => id)
    const [seen, people] = await Promise.all([
      this.#policy.allowed(caller, 'ViewFile', 'file', ids, 'readable'),
      this.#users.getMany([...new Set(all.map(({ author }) => author))]),
    ])
    return all
      .filter(({ id }) => seen.has(id))
      .toSorted((one, other) => (one.created < other.created ? 1 : -1))
      .slice(0, maxVersions)
      .map(({ id, created, author, sizeBytes, sha256 }) => {
        const person = people.get(author)
        return { id, created, author: { id: author, fullName: person ? fullNameOf(person) : '' }, sizeBytes, sha256 }
      })
  }
}
wire(FileViews, Users, Policy, Datasets, Files, FileListing, FileDownloads)
