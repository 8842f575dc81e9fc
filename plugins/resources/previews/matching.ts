import {
  type After,
  type Caller,
  type Contributions,
  type FileRecord,
  Files,
  Installation,
  NotFound,
  Policy,
  type Previewer,
  Previewers,
  type Stored,
  s,
  wire,
} from 'pounce/sdk'
import { allowsDownload, isUsable, trimEnd } from 'pounce/sdk/kit'
import type { Preview } from './collections.ts'
import { StoredPreviews } from './stored-previews.ts'

/**
 * The preview or file and its previewer (reference, api-data §5c). `pv_*` is the preview or the file itself, `p_*` the previewer. As in Clowder 1.x, `pv_route`
 * and `p_path` include the path of the base URL: clients append them to the host. `pv_route` of a file is `null` as text for callers who may not download it, by
 * right or by its license.
 */
export const PreviewMatch = s.model(
  'FilePreviews',
  s.Object({
    file_id: s.String(),
    previews: s.Array(
      s.Object({
        pv_id: s.String(),
        p_id: s.String(),
        p_path: s.String(),
        p_main: s.String(),
        pv_route: s.String(),
        pv_contenttype: s.String(),
        pv_length: s.String(),
      }),
    ),
  }),
)
type Match = s.Static<typeof PreviewMatch>

const fits = (pattern: string, mediaType: string): boolean => {
  const [type, subtype] = pattern.split('/')
  const [ownType, ownSubtype] = mediaType.split('/')
  return (type === '*' || type === ownType) && (subtype === '*' || subtype === ownSubtype)
}

type File = FileRecord & Stored

/** Number of files processed together. */
const batchSize = 20

/** Finds previewers for files and previews. */
export class PreviewMatching {
  #files: Files
  #previews: StoredPreviews
  #previewers: Contributions<Previewer>
  #policy: Policy
  #base: string

  constructor(
    files: Files,
    previews: StoredPreviews,
    previewers: Contributions<Previewer>,
    policy: Policy,
    { baseUrl }: Pick<Installation, 'baseUrl'>,
  ) {
    this.#files = files
    this.#previews = previews
    this.#previewers = previewers
    this.#policy = policy
    this.#base = trimEnd(new URL(baseUrl).pathname, '/')
  }

  async ofFile(id: string, caller: Caller): Promise<readonly Match[]> {
    const file = await this.#files.get(id)
    if (!file) throw new NotFound('file')
    if (file.showPreviews === 'None') return []
    return this.#ofFiles([file], caller)
  }

  /** For each visible file in the root of a dataset to be shown there, by name, during iteration. */
  async *ofDataset(id: string, caller: Caller): AsyncIterable<Match> {
    let after: After | undefined
    do {
      const page = await this.#files.in(id, { limit: batchSize, ...(after ? { after } : {}) })
      const shown = page.items.filter(({ showPreviews }) => showPreviews === 'DatasetLevel')
      if (shown.length > 0) yield* await this.#ofFiles(shown, caller)
      after = page.next
    } while (after)
  }

  async #ofFiles(files: readonly File[], caller: Caller): Promise<readonly Match[]> {
    const ids = files.map(({ id }) => id)
    const [granted, previews] = await Promise.all([
      this.#policy.held(caller, ['ViewFile', 'DownloadFiles'], 'file', ids),
      Promise.all(ids.map(id => this.#previews.of({ kind: 'file', id }))),
    ])
    return files.flatMap((file, at) => {
      const permissions = granted.get(file.id) ?? []
      const mayDownload = isUsable(file) && (permissions.includes('DownloadFiles') || allowsDownload(file.license))
      return permissions.includes('ViewFile') ? [this.#match(file, previews[at] ?? [], mayDownload)] : []
    })
  }

  #match(file: File, previews: readonly Preview[], mayDownload: boolean): Match {
    const all = this.#previewers.all()
    const shown = previews.flatMap(preview =>
      all
        .filter(previewer => previewer.mediaTypes.some(type => fits(type, preview.contentType)))
        .slice(0, 1)
        .map(previewer => ({
          ...this.#by(previewer),
          pv_id: preview.id,
          pv_route: `${this.#base}/api/previews/${preview.id}`,
          pv_contenttype: preview.contentType,
          pv_length: String(preview.sizeBytes),
        })),
    )
    if (shown.length > 0) return { file_id: file.id, previews: shown }
    const itself = all.filter(previewer => previewer.showsFiles && previewer.mediaTypes.some(type => fits(type, file.contentType)))
    return {
      file_id: file.id,
      previews: itself.map(previewer => ({
        ...this.#by(previewer),
        pv_id: file.id,
        pv_route: mayDownload ? `${this.#base}/files/${file.id}/blob` : 'null',
        pv_contenttype: file.contentType,
        pv_length: String(file.sizeBytes),
      })),
    }
  }

  #by({ id, path, main }: Previewer) {
    return { p_id: id, p_path: this.#base + path, p_main: main }
  }
}
wire(PreviewMatching, Files, StoredPreviews, Previewers, Policy, Installation)
